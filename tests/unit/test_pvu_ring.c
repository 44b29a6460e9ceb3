/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* When rings start and stop, and with what. */

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pvu_owner.h"

#define MEM 0x40000

static struct owner o;
static struct peer p;
static struct peer_ring ring;

static void
ready(uint64_t features, uint32_t size)
{
	owner_ready(&o, &p, features, MEM);
	peer_ring_place(&ring, 0, size, features & F_PACKED, 0x1000);
}

static void
done(void)
{
	peer_ring_free(&ring);
	owner_done(&o, &p);
}

static void
start_and_stop(void)
{
	uint32_t num;

	ready(F_PACKED, 300);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.size, 300);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 0x8000);
	memset(p.mem.base + ring.desc, 0x5a, 16);
	CU_ASSERT_EQUAL(*(uint8_t *)o.rings[0].ring.desc, 0x5a);
	CU_ASSERT_PTR_EQUAL((uint8_t *)o.rings[0].ring.driver,
			(uint8_t *)o.rings[0].ring.desc + 300 * 16);
	CU_ASSERT_PTR_EQUAL(
			(uint8_t *)o.rings[0].ring.device, (uint8_t *)o.rings[0].ring.driver + 4);
	eventfd_write(o.rings[0].ring.call_fd, 1);
	CU_ASSERT_EQUAL(eventfd_read(ring.call_fd, &(eventfd_t){ 0 }), 0);
	CU_ASSERT_EQUAL(peer_get_base(&p, 0, &num), 0);
	CU_ASSERT_EQUAL(num, 0x8000);
	CU_ASSERT_FALSE(o.rings[0].running);
	/* Stopped, it takes a new kick to start it, and nothing less. */
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 1), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, ring.call_fd), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	done();
}

/* QE09, XB03: bases to the entry, the same when asked again; each ring by itself. */
static void
qe09_get_base(void)
{
	struct peer_ring other;
	uint32_t num, again;

	ready(F_VERSION_1, 256);
	peer_ring_place(&other, 1, 256, false, 0x8000);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &other), 0);
	o.rings[0].base = 77;
	o.rings[1].base = 1234;
	CU_ASSERT_EQUAL(peer_get_base(&p, 0, &num), 0);
	CU_ASSERT_EQUAL(num, 77);
	CU_ASSERT_TRUE(o.rings[1].running);
	CU_ASSERT_EQUAL(peer_get_base(&p, 1, &num), 0);
	CU_ASSERT_EQUAL(num, 1234);
	CU_ASSERT_EQUAL(peer_get_base(&p, 1, &again), 0);
	CU_ASSERT_EQUAL(again, num);
	CU_ASSERT_EQUAL(o.rings[1].stops, 1);
	peer_ring_free(&other);
	done();

	ready(F_PACKED, 256);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	o.rings[0].base = 0x8000 | 77;
	CU_ASSERT_EQUAL(peer_get_base(&p, 0, &num), 0);
	CU_ASSERT_EQUAL(num, 0x8000 | 77);
	CU_ASSERT_EQUAL(peer_get_base(&p, 0, &again), 0);
	CU_ASSERT_EQUAL(again, num);
	done();
}

static void
qe07_base_of_an_unknown_ring(void)
{
	uint32_t num = 1;
	int fd = eventfd(0, 0);

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_get_base(&p, 3, &num), 0);
	CU_ASSERT_EQUAL(num, 0);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 5, fd), 0);
	CU_ASSERT_EQUAL(peer_get_base(&p, 5, &num), 0);
	CU_ASSERT_EQUAL(num, 0x8000);
	close(fd);
	owner_done(&o, &p);
}

static void
qe01_rings_left_alone(void)
{
	struct peer_ring other;
	unsigned int i;
	int fd = eventfd(0, 0);

	ready(F_PACKED, 64);
	for (i = 0; i < NR_RINGS; i++)
		CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, i, fd), 0);
	peer_ring_place(&other, 1, 64, true, 0x8000);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &other), 0);
	CU_ASSERT_EQUAL(o.info.rings_running, 2);
	close(fd);
	peer_ring_free(&other);
	done();
}

static void
qe05_one_change_each(void)
{
	unsigned int changes;

	ready(F_PACKED, 64);
	CU_ASSERT_EQUAL(o.changes, 1); /* connected */
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_EQUAL(o.changes, 2);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 1), 0);
	CU_ASSERT_EQUAL(o.changes, 2);
	CU_ASSERT_EQUAL(o.rings[0].starts, 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 0), 0);
	CU_ASSERT_EQUAL(o.changes, 3);
	CU_ASSERT_EQUAL(o.rings[0].stops, 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 2), 1);
	changes = o.changes;
	peer_close(&p);
	CU_ASSERT_EQUAL(o.changes, changes + 1);
	CU_ASSERT_FALSE(o.info.connected);
	done();
	CU_ASSERT_EQUAL(o.changes, changes + 1);
}

/* Without bit 30 a ring is enabled from the start; an ENABLE that comes all the same counts. */
static void
enabled_from_the_start(void)
{
	const uint64_t ack = PVU_PROTO_REPLY_ACK;
	struct vhost_vring_addr addr;

	owner_open(&o, &p);
	peer_send(&p, PVU_SET_PROTOCOL_FEATURES, 0, &ack, sizeof(ack), NULL, 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_FEATURES, F_PACKED), 0);
	CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
	peer_ring_place(&ring, 0, 64, true, 0x1000);
	addr = peer_ring_addr(&p, &ring);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 64), 0);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 0x8000); /* none was sent */
	CU_ASSERT_EQUAL(o.rings[0].ring.call_fd, -1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 0), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	done();
}

static void
rc03_base(void)
{
	uint16_t *avail_idx;

	ready(F_VERSION_1, 16);
	avail_idx = (uint16_t *)(void *)(p.mem.base + ring.driver + 2);
	*avail_idx = 9;
	ring.base = 5;
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 5);
	/* The driver was reset; its memory still shows where it was. */
	o.rings[0].base = 256;
	*avail_idx = 256;
	peer_ring_free(&ring);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_RESET_DEVICE, NULL, 0, NULL, 0), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_FEATURES, F_VERSION_1 | BIT(30)), 0);
	peer_ring_place(&ring, 0, 16, false, 0x1000);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 0);
	done();
}

static void
pk09_base_beyond_size(void)
{
	struct vhost_vring_addr addr;

	ready(F_PACKED, 256);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 256), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 300), 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 0x8000 + 256), 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 0x80ff80ff), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 0x80ff), 0);
	/* Base first, size later: the ring does not start. */
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 255), 0);
	addr = peer_ring_addr(&p, &ring);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 1), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.line, "ring 0 is not started: base 0x80ff"));
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_BASE, 0, 0x80fe), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 0x80fe);
	done();
}

static void
sizes(void)
{
	static const uint32_t bad[] = { 0, 32769, 65536, 0x10100, UINT32_MAX };
	const uint64_t ack = PVU_PROTO_REPLY_ACK;
	unsigned int i;

	owner_ready(&o, &p, F_PACKED, MEM);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, bad[i]), 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 1), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 32768), 0);
	peer_send(&p, PVU_SET_VRING_NUM, 0, &(struct vhost_vring_state){ 0, 0 }, 8, NULL, 0);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	owner_done(&o, &p);

	ready(0, 64);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 3), 1);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 100), 1);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	done();

	/* That it is a split ring is known only later. */
	owner_open(&o, &p);
	peer_send(&p, PVU_SET_PROTOCOL_FEATURES, 0, &ack, sizeof(ack), NULL, 0);
	CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
	peer_ring_place(&ring, 0, 100, false, 0x1000);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_FEATURES, BIT(30)), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.line, "not a power of two"));
	done();
}

static void
owner_refuses(void)
{
	ready(F_PACKED, 64);
	o.rings[0].start_result = -ENOMEM;
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.info.rings_running, 0);
	o.rings[0].start_result = 0;
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	done();
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "start and stop", start_and_stop },
		{ "QE09 XB03 base of a stopped ring", qe09_get_base },
		{ "QE07 base of an unknown ring", qe07_base_of_an_unknown_ring },
		{ "QE01 rings left alone", qe01_rings_left_alone },
		{ "QE05 one change each", qe05_one_change_each },
		{ "enabled from the start", enabled_from_the_start },
		{ "RC03 base", rc03_base },
		{ "PK09 base beyond size", pk09_base_beyond_size },
		{ "sizes", sizes },
		{ "owner refuses", owner_refuses },
	};

	return run_tests("pvu rings", cases, ARRAY_LEN(cases));
}
