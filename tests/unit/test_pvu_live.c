/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Rings that are told things in any order, and while they run. */

#include <stdlib.h>
#include <string.h>

#include "pvu_owner.h"

#define MEM 0x40000

static struct owner o;
static struct peer p;
static struct peer_ring ring;

static void
running(uint64_t features)
{
	owner_running(&o, &p, &ring, features, MEM);
}

static void
done(void)
{
	owner_stopped(&o, &p, &ring);
}

enum step { FEATURES, MEMORY, NUM, ADDR, BASE, CALL, KICK, ENABLE, NR_STEPS };

static int
take(enum step step)
{
	struct vhost_vring_addr addr = peer_ring_addr(&p, &ring);

	switch (step) {
	case FEATURES:
		return peer_ask_u64(&p, PVU_SET_FEATURES, F_PACKED | BIT(30));
	case MEMORY:
		return peer_share(&p, MEM);
	case NUM:
		return peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 64);
	case ADDR:
		return peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0);
	case BASE:
		return peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 0x8005);
	case CALL:
		return peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, ring.call_fd);
	case KICK:
		return peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd);
	default:
		return peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 1);
	}
}

/* One order of all steps. A base after the start is too late. */
static void
vm11_order(const enum step *order)
{
	const uint64_t ack = PVU_PROTO_REPLY_ACK;
	unsigned int i;
	bool late = false;

	owner_open(&o, &p);
	peer_send(&p, PVU_SET_PROTOCOL_FEATURES, 0, &ack, sizeof(ack), NULL, 0);
	peer_mem_new(&p.mem, MEM, 0x100000000, 0x7000000000);
	peer_ring_place(&ring, 0, 64, true, 0x1000);
	for (i = 0; i < NR_STEPS; i++) {
		if (order[i] == BASE)
			late = o.rings[0].running;
		CU_ASSERT_EQUAL(take(order[i]), order[i] == BASE && late);
	}
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.size, 64);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, late ? 0x8000 : 0x8005);
	CU_ASSERT_NOT_EQUAL(o.rings[0].ring.call_fd, -1);
	CU_ASSERT_NOT_EQUAL(o.rings[0].ring.kick_fd, -1);
	done();
}

static void
vm11_any_order(void)
{
	static const enum step cases[][NR_STEPS] = {
		{ NUM, BASE, ADDR, CALL, KICK, ENABLE, MEMORY, FEATURES },
		{ FEATURES, NUM, BASE, ADDR, KICK, CALL, ENABLE, MEMORY },
		{ ENABLE, FEATURES, MEMORY, CALL, NUM, BASE, KICK, ADDR },
		{ FEATURES, MEMORY, KICK, ENABLE, BASE, ADDR, NUM, CALL },
	};
	enum step order[NR_STEPS], other;
	unsigned int i, j, round;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		vm11_order(cases[i]);
	srand(1);
	for (i = 0; i < NR_STEPS; i++)
		order[i] = i;
	for (round = 0; round < 100; round++) {
		for (i = NR_STEPS - 1; i > 0; i--) {
			j = (unsigned int)rand() % (i + 1);
			other = order[i];
			order[i] = order[j];
			order[j] = other;
		}
		vm11_order(order);
	}
}

static void
lc07_kick_again(void)
{
	running(F_PACKED);
	o.rings[0].base = 9;
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_EQUAL(o.rings[0].starts, 2);
	CU_ASSERT_EQUAL(o.rings[0].stops, 1);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 9);
	CU_ASSERT_EQUAL(o.changes, 2); /* connected, running: nobody saw the restart */
	done();
}

static void
addresses(void)
{
	struct vhost_vring_addr addr, bad;
	uint32_t num;

	running(F_PACKED);
	addr = peer_ring_addr(&p, &ring);
	bad = addr;
	bad.used_user_addr += 0x1000000;
	/* Refused, a running ring is not touched. */
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &bad, sizeof(bad), NULL, 0), 1);
	bad = addr;
	bad.desc_user_addr += 8;
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &bad, sizeof(bad), NULL, 0), 1);
	bad = addr;
	bad.avail_user_addr += 2; /* right for a split ring */
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &bad, sizeof(bad), NULL, 0), 1);
	bad = addr;
	bad.flags = 1;
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &bad, sizeof(bad), NULL, 0), 1);
	CU_ASSERT_EQUAL(o.rings[0].starts, 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 32), 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 3), 1);
	CU_ASSERT_EQUAL(o.rings[0].starts, 1);
	o.rings[0].base = 0x8003;
	addr.desc_user_addr += 0x1000;
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 0);
	CU_ASSERT_EQUAL(o.rings[0].starts, 2);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 0x8003);
	CU_ASSERT_PTR_EQUAL(o.rings[0].ring.desc, (uint8_t *)o.regions[0].host + 0x2000);
	/* Nobody asked: the ring is not started, and the rest goes on. */
	bad = addr;
	bad.used_user_addr += 0x1000000;
	peer_send(&p, PVU_SET_VRING_ADDR, 0, &bad, sizeof(bad), NULL, 0);
	CU_ASSERT_EQUAL(peer_get_base(&p, 0, &num), 0);
	CU_ASSERT_EQUAL(num, 0x8003);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.line, "ring 0 is not started"));
	done();
}

/* MM05: every byte of a ring lies in the region, event areas included. */
static void
mm05_ring_at_the_end(void)
{
	static const struct {
		uint64_t features;
		uint32_t driver_len, device_len;
	} cases[] = {
		{ F_PACKED, 4, 4 },
		{ 0, 4 + 2 * 64, 4 + 8 * 64 },
		{ F_EVENT_IDX, 6 + 2 * 64, 6 + 8 * 64 },
	};
	struct vhost_vring_addr addr;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		running(cases[i].features);
		addr = peer_ring_addr(&p, &ring);
		addr.desc_user_addr = p.mem.user_addr + MEM - 64 * 16;
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, 40, NULL, 0), 0);
		addr.desc_user_addr += 16;
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, 40, NULL, 0), 1);
		addr = peer_ring_addr(&p, &ring);
		addr.avail_user_addr = p.mem.user_addr + MEM - cases[i].driver_len;
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, 40, NULL, 0), 0);
		addr.avail_user_addr += cases[i].features & F_PACKED ? 4 : 2;
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, 40, NULL, 0), 1);
		addr = peer_ring_addr(&p, &ring);
		addr.used_user_addr = (p.mem.user_addr + MEM - cases[i].device_len) & ~UINT64_C(3);
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, 40, NULL, 0), 0);
		addr.used_user_addr += 4;
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, 40, NULL, 0), 1);
		done();
	}
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "VM11 any order", vm11_any_order },
		{ "LC07 kick again", lc07_kick_again },
		{ "addresses", addresses },
		{ "MM05 ring at the end", mm05_ring_at_the_end },
	};

	return run_tests("pvu live changes", cases, ARRAY_LEN(cases));
}
