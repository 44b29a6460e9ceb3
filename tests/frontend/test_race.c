/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Messages in the middle of bursts. No packet is lost, doubled or harmed by them. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "flow.h"

#define ROUNDS 1000

static struct flow_thread traffic;

static struct peer *
peer(void)
{
	return &fx.fe.peer;
}

static void
begin(void)
{
	const struct flow_conf conf = {
		.min_len = 14, .max_len = 3000, .min_room = 3012, .max_room = 3100, .max_segs = 4,
		.burst = FLOW_BURST, .indirect = true,
	};

	fx_start(FE_PLAIN, 256);
	flow_thread_start(&traffic, &fx.fe, &fx.port, &conf);
	CU_ASSERT_TRUE(flow_thread_moves(&traffic, 100));
}

static void
end(void)
{
	CU_ASSERT_TRUE(flow_thread_moves(&traffic, 500));
	CU_ASSERT_TRUE(flow_thread_stop(&traffic, 1000));
	CU_ASSERT_TRUE(flow_settle(&traffic.flow));
	CU_ASSERT_EQUAL(fx.fe.faults, 0);
	CU_ASSERT_TRUE(fe_ring_level(&fx.fe, FE_RXQ));
	CU_ASSERT_TRUE(fe_ring_level(&fx.fe, FE_TXQ));
	CU_ASSERT_EQUAL(fx_stats(&fx.port).ierrors, 0);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 0);
}

static void
set_fd(enum pvu_request_nr request, unsigned int ring, int *fd, bool look)
{
	int fresh = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), old = *fd;
	eventfd_t count;

	CU_ASSERT_EQUAL(peer_ask_fd(peer(), request, ring, fresh), 0);
	*fd = fresh;
	/* Once it is answered, nobody writes to the old one. */
	(void)eventfd_read(old, &count);
	if (look)
		CU_ASSERT_TRUE(flow_thread_moves(&traffic, 10));
	CU_ASSERT_TRUE(eventfd_read(old, &count) < 0 && errno == EAGAIN);
	close(old);
}

/* Other descriptors of the process, as they come and go, in the numbers that become free: nobody
 * signals them.
 */
static void *
decoys(void *arg)
{
	const bool *stop = arg;
	eventfd_t count;
	int fds[4];

	while (!pvq_load(stop)) {
		for (unsigned int i = 0; i < RTE_DIM(fds); i++)
			fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		sched_yield();
		for (unsigned int i = 0; i < RTE_DIM(fds); i++) {
			if (eventfd_read(fds[i], &count) == 0)
				fe_fault(&fx.fe, "a descriptor of somebody else's was signalled");
			close(fds[i]);
		}
	}
	return NULL;
}

static void
test_xb08(void)
{
	pthread_t thread;
	bool stop = false;

	begin();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, decoys, &stop), 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct peer_ring *wire = &fx.fe.ring[i % 2].wire;

		if (i % 4 < 2)
			set_fd(PVU_SET_VRING_CALL, i % 2, &wire->call_fd, i % 20 < 4);
		else
			set_fd(PVU_SET_VRING_KICK, i % 2, &wire->kick_fd, false);
	}
	pvq_store(&stop, true);
	pthread_join(thread, NULL);
	end();
}

/* The table changes between one region and two, the memory does not. */
static void
test_mem_table(void)
{
	struct pvu_mem_region one, two[2];
	int fds[2];

	begin();
	one = peer_mem_region(&peer()->mem);
	two[0] = two[1] = one;
	two[0].size = two[1].offset = 24 << 20;
	two[1].size -= two[0].size;
	two[1].guest_addr += two[0].size;
	two[1].user_addr += two[0].size;
	fds[0] = fds[1] = peer()->mem.fd;
	for (unsigned int i = 0; i < ROUNDS; i++)
		CU_ASSERT_EQUAL(i % 2 ? peer_ask_regions(peer(), &one, fds, 1) :
				peer_ask_regions(peer(), two, fds, 2), 0);
	end();
}

static void
test_addr(void)
{
	begin();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct vhost_vring_addr addr = peer_ring_addr(peer(), &fx.fe.ring[i % 2].wire);

		CU_ASSERT_EQUAL(peer_ask(peer(), PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0),
				0);
	}
	end();
}

static void
test_enable(void)
{
	begin();
	for (unsigned int i = 0; i < 2 * ROUNDS; i++)
		CU_ASSERT_EQUAL(peer_ask_state(peer(), PVU_SET_VRING_ENABLE, i / 2 % 2, i % 2), 0);
	end();
}

static void
test_get_base(void)
{
	begin();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t base = 0, again = 0;

		CU_ASSERT_EQUAL(peer_get_base(peer(), i % 2, &base), 0);
		CU_ASSERT_EQUAL(peer_get_base(peer(), i % 2, &again), 0);
		CU_ASSERT_EQUAL(base, again);
		CU_ASSERT_TRUE((base & 0x7fff) < 256);
		CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, i % 2), 0);
	}
	end();
}

static void
test_features(void)
{
	begin();
	for (unsigned int i = 0; i < ROUNDS; i++)
		CU_ASSERT_EQUAL(peer_ask_u64(peer(), PVU_SET_FEATURES,
				FE_PLAIN | PVU_F_PROTOCOL_FEATURES | (i % 2 ? 0 : FE_MRG)), 0);
	end();
}

/* LC07: a second kick descriptor, a second enable, while running: nothing starts anew. */
static void
test_lc07(void)
{
	begin();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, i % 2), 0);
		CU_ASSERT_EQUAL(peer_ask_state(peer(), PVU_SET_VRING_ENABLE, i % 2, 1), 0);
	}
	end();
}

static bool
is_down(void *arg)
{
	(void)arg;
	return !fx_link_up(&fx.port);
}

/* Disconnect in mid-burst, 32 times. The driver goes on where the device had come to. */
static void
test_reconnect(void)
{
	begin();
	for (unsigned int i = 0; i < 32; i++) {
		CU_ASSERT_TRUE(flow_thread_moves(&traffic, 50));
		peer_close(peer());
		CU_ASSERT_TRUE_FATAL(fx_wait(is_down, NULL));
		flow_thread_stop(&traffic, UINT64_MAX);
		/* What came before the end is taken back. */
		flow_receive(&traffic.flow);
		flow_send(&traffic.flow);
		CU_ASSERT_EQUAL_FATAL(fe_rejoin(&fx.fe, fx.port.path), 0);
		flow_thread_resume(&traffic);
	}
	end();
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "XB08: fresh call and kick descriptors", test_xb08 },
		{ "SET_MEM_TABLE", test_mem_table },
		{ "SET_VRING_ADDR", test_addr },
		{ "SET_VRING_ENABLE", test_enable },
		{ "GET_VRING_BASE", test_get_base },
		{ "SET_FEATURES", test_features },
		{ "LC07: started twice", test_lc07 },
		{ "disconnect in mid-burst, 32 times", test_reconnect },
		CU_TEST_INFO_NULL,
	};

	return fx_run("race", tests);
}
