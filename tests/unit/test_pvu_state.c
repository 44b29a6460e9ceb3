/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Features, virtio status and resets, and what they do to rings; a data thread that hangs. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

static int
set_features(uint64_t features)
{
	return peer_ask_u64(&p, PVU_SET_FEATURES, features | BIT(30));
}

static void
features_while_running(void)
{
	running(F_PACKED | F_VERSION_1);
	CU_ASSERT_EQUAL(set_features(F_PACKED | F_VERSION_1), 0);
	CU_ASSERT_EQUAL(o.feature_calls, 1);
	CU_ASSERT_EQUAL(o.rings[0].starts, 1);
	/* The ring would look otherwise. */
	CU_ASSERT_EQUAL(set_features(F_VERSION_1), 1);
	CU_ASSERT_EQUAL(set_features(F_PACKED), 1);
	CU_ASSERT_EQUAL(set_features(F_PACKED | F_VERSION_1 | F_EVENT_IDX), 1);
	CU_ASSERT_EQUAL(o.feature_calls, 1);
	CU_ASSERT_EQUAL(o.rings[0].starts, 1);
	o.rings[0].base = 7;
	CU_ASSERT_EQUAL(set_features(F_PACKED | F_VERSION_1 | F_MRG_RXBUF), 0);
	CU_ASSERT_EQUAL(o.features, F_PACKED | F_VERSION_1 | F_MRG_RXBUF | BIT(30));
	CU_ASSERT_EQUAL(o.rings[0].starts, 2);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 7);
	done();
}

static void
hd05_negotiation(void)
{
	static const uint64_t cases[] = { F_PACKED, F_MRG_RXBUF, F_VERSION_1, 0, F_MRG_RXBUF, 0 };
	unsigned int i;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, 0, 0), 0);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		CU_ASSERT_EQUAL(set_features(cases[i]), 0);
		CU_ASSERT_EQUAL(o.features, cases[i] | BIT(30));
	}
	owner_done(&o, &p);
}

static void
memory_while_running(void)
{
	struct peer_mem other;
	struct pvu_mem_region region;
	void *old;

	running(F_PACKED);
	old = o.rings[0].ring.desc;
	o.rings[0].base = 11;
	CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
	CU_ASSERT_EQUAL(o.rings[0].starts, 2);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 11);
	CU_ASSERT_PTR_NOT_EQUAL(o.rings[0].ring.desc, old);
	/* A bad table changes nothing, not even for a moment. */
	region = peer_mem_region(&p.mem);
	region.size += 0x1000;
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &p.mem.fd, 1), 1);
	CU_ASSERT_EQUAL(o.rings[0].starts, 2);
	CU_ASSERT_EQUAL(o.rings[0].stops, 1);
	/* In a table without the ring, the ring waits; with it, it goes on. */
	peer_mem_new(&other, MEM, 0x900000000, 0x900000000);
	region = peer_mem_region(&other);
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &other.fd, 1), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.info.rings_running, 0);
	CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 11);
	peer_mem_free(&other);
	done();
}

/* As DPDK's virtio-user does it: the status follows the rings at the start, loses DRIVER_OK
 * without a reset at the next, and the size may be another then.
 */
static void
status_as_virtio_user(void)
{
	uint64_t status = 0;
	uint32_t num;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, PVU_PROTO_STATUS), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, 0xb), 0);
	CU_ASSERT_EQUAL(peer_get_u64(&p, PVU_GET_STATUS, &status), 0);
	CU_ASSERT_EQUAL(status, 0xb);
	CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
	peer_ring_place(&ring, 0, 64, true, 0x1000);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, 0xf), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.info.status, 0xf);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 0), 0);
	CU_ASSERT_EQUAL(peer_get_base(&p, 0, &num), 0);
	CU_ASSERT_EQUAL(set_features(F_PACKED | F_VERSION_1), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, 0xb), 0);
	peer_ring_free(&ring);
	peer_ring_place(&ring, 0, 96, true, 0x1000);
	CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, 0xf), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.size, 96);
	CU_ASSERT_EQUAL(o.rings[0].ring.base, 0x8000);
	done();
}

static void
status(void)
{
	uint64_t status = 0;

	running(F_PACKED);
	/* Acknowledging STATUS makes a ring wait for DRIVER_OK. */
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_PROTOCOL_FEATURES,
					PVU_PROTO_STATUS | PVU_PROTO_REPLY_ACK),
			0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, 0x100), 1);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, S_OK_ALL), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, S_OK_ALL | 0x80), 0); /* FAILED */
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, S_OK_ALL), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, 0), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.info.status, 0);
	/* After the reset no features are agreed on: FEATURES_OK does not stick. */
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_STATUS, S_OK_ALL), 0);
	CU_ASSERT_EQUAL(peer_get_u64(&p, PVU_GET_STATUS, &status), 0);
	CU_ASSERT_EQUAL(status, 0x7);
	done();
}

/* What a reset keeps: the call descriptor and the memory. What it takes: all else. */
static void
resets(void)
{
	struct vhost_vring_addr addr;

	running(F_PACKED);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_RESET_OWNER, NULL, 0, NULL, 0), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 1), 0);
	CU_ASSERT_TRUE(o.rings[0].running);

	CU_ASSERT_EQUAL(peer_ask(&p, PVU_RESET_DEVICE, NULL, 0, NULL, 0), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.features, 0);
	CU_ASSERT_EQUAL(o.nregions, 1);
	CU_ASSERT_TRUE(o.info.connected);
	CU_ASSERT_EQUAL(set_features(F_PACKED), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_ENABLE, 0, 1), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_KICK, 0, ring.kick_fd), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 32), 0);
	CU_ASSERT_FALSE(o.rings[0].running);
	addr = peer_ring_addr(&p, &ring);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_NOT_EQUAL(o.rings[0].ring.call_fd, -1);
	done();
}

/* Mappings of frontends' memory, the frontends' own included. */
static unsigned int
count_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[256];
	unsigned int n = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, "memfd:peer") != NULL;
	if (f != NULL)
		fclose(f);
	return n;
}

/* A data thread that does not let go: the connection ends, its memory stays where it is. */
static void
ring_does_not_stop(void)
{
	static const uint32_t causes[] = { PVU_GET_VRING_BASE, PVU_SET_MEM_TABLE, PVU_SET_FEATURES,
		PVU_SET_VRING_CALL, PVU_RESET_DEVICE, 0 };
	unsigned int i, fds, mappings;
	volatile uint8_t *desc;
	uint32_t num;

	for (i = 0; i < ARRAY_LEN(causes); i++) {
		fds = peer_count_fds();
		mappings = count_mappings();
		running(F_PACKED);
		desc = o.rings[0].ring.desc;
		o.rings[0].stop_result = -ETIMEDOUT;
		if (causes[i] == PVU_GET_VRING_BASE)
			CU_ASSERT_EQUAL(peer_get_base(&p, 0, &num), PEER_CLOSED);
		if (causes[i] == PVU_SET_MEM_TABLE)
			CU_ASSERT_EQUAL(peer_share(&p, MEM), PEER_CLOSED);
		if (causes[i] == PVU_SET_FEATURES)
			CU_ASSERT_EQUAL(set_features(F_PACKED | F_MRG_RXBUF), PEER_CLOSED);
		if (causes[i] == PVU_SET_VRING_CALL)
			CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, ring.call_fd),
					PEER_CLOSED);
		if (causes[i] == PVU_RESET_DEVICE)
			CU_ASSERT_EQUAL(peer_ask(&p, PVU_RESET_DEVICE, NULL, 0, NULL, 0),
					PEER_CLOSED);
		if (causes[i] == 0)
			peer_close(&p);
		CU_ASSERT_FALSE(o.info.connected);
		CU_ASSERT_EQUAL(o.info.rings_running, 0);
		CU_ASSERT_EQUAL(o.nregions, 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(o.line, "stays mapped"));
		p.mem.base[0x1000] = 0x77;
		CU_ASSERT_EQUAL(*desc, 0x77);
		done();
		/* Its memory, kick and call stay, and nothing more. */
		CU_ASSERT_EQUAL(*desc, 0x77);
		CU_ASSERT_EQUAL(count_mappings(), mappings + 1);
		CU_ASSERT_EQUAL(peer_count_fds(), fds + 2);
	}
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "features while running", features_while_running },
		{ "HD05 negotiation", hd05_negotiation },
		{ "memory while running", memory_while_running },
		{ "status as virtio-user uses it", status_as_virtio_user },
		{ "status", status },
		{ "resets", resets },
		{ "ring does not stop", ring_does_not_stop },
	};

	return run_tests("pvu device state", cases, ARRAY_LEN(cases));
}
