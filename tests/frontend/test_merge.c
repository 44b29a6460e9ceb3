/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packets over several buffers of the receive ring. */

#include <pthread.h>
#include <sched.h>

#include "fixture.h"

static uint8_t got[FX_MAX_PKT];

/* The header is written each time, whatever the buffer held: in the single path and in a batch. */
static void
test_mg01(void)
{
	struct rte_mbuf *pkts[32];

	fx_start(FE_PLAIN | FE_MRG, 64);
	CU_ASSERT_TRUE(fx_sends(64, (uint32_t[]){ 2000 }, 1, false));
	fx_post(FE_RXQ, 32, 2000);
	for (unsigned int i = 0; i < 32; i++)
		pkts[i] = fx_packet(64, i);
	CU_ASSERT_EQUAL(fx_tx(pkts, 32), 32);
	for (unsigned int i = 0; i < 32; i++)
		CU_ASSERT_TRUE(fx_arrives(64, i));
}

#define MG03_ROUNDS 20000

/* The driver: three buffers that one packet fills. It looks at the next two the moment the first
 * is used, and counts on num_buffers.
 */
static void *
mg03_driver(void *arg)
{
	const bool *stop = arg;
	const uint32_t room = 1024;

	for (unsigned int i = 0; fx.fe.faults == 0; i++) {
		int len = FE_NONE;

		for (unsigned int n = 0; n < 3; n++)
			fe_post(&fx.fe, FE_RXQ, &room, 1, n == i % 4);
		while (len == FE_NONE) {
			if (pvq_load(stop))
				return NULL;
			sched_yield();
			len = fe_receive(&fx.fe, FE_RXQ, got, sizeof(got));
		}
		if (len != 3000)
			fe_fault(&fx.fe, "received %d bytes", len);
	}
	return NULL;
}

static void
test_mg03_mg07(void)
{
	const uint64_t end = fx_now_ms() + 3000;
	unsigned int sent = 0;
	pthread_t driver;
	bool stop = false;

	fx_start(FE_PLAIN | FE_MRG, 64);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&driver, NULL, mg03_driver, &stop), 0);
	while (sent < MG03_ROUNDS && fx_now_ms() < end) {
		sent += fx_send(3000, 1);
		sched_yield();
	}
	pvq_store(&stop, true);
	pthread_join(driver, NULL);
	CU_ASSERT_TRUE(sent > 100);
	CU_ASSERT_EQUAL(fx.fe.faults, 0);
	fx_restart(FE_PLAIN | FE_MRG, 64, 0);
}

/* Too few buffers: nothing is taken, and the packet goes when there are enough. */
static void
test_mg05(void)
{
	struct vring_packed_desc *desc;

	fx_start(FE_PLAIN | FE_MRG, 16);
	fx_post(FE_RXQ, 2, 1024);
	CU_ASSERT_EQUAL(fx_send(4000, 1), 0);
	desc = fe_last_desc(&fx.fe, FE_RXQ, 1);
	CU_ASSERT_EQUAL(desc[0].flags & 0x8080, 0x0080);
	CU_ASSERT_EQUAL(desc[1].flags & 0x8080, 0x0080);
	CU_ASSERT_EQUAL(fe_ring_base(&fx.fe, FE_RXQ).idx, 0);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_RXQ), 0);
	fx_post(FE_RXQ, 4, 1024);
	CU_ASSERT_EQUAL(fx_send(4000, 2), 1);
	CU_ASSERT_TRUE(fx_arrives(4000, 2));
	CU_ASSERT_EQUAL(fx_stats(&fx.port).opackets, 1);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 0);
	CU_ASSERT_EQUAL(fx_send(60, 3), 1);
	CU_ASSERT_EQUAL(fx_send(60, 4), 1);
	CU_ASSERT_TRUE(fx_arrives(60, 3) && fx_arrives(60, 4));
}

/* A packet that the whole ring cannot hold is lost; the next one is not. */
static void
test_mergeable_too_big(void)
{
	fx_start(FE_PLAIN | FE_MRG, 4);
	fx_post(FE_RXQ, 4, 1000);
	CU_ASSERT_EQUAL(fx_send(4000, 1), 1);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 1);
	CU_ASSERT_EQUAL(fx_send(3988, 2), 1);
	CU_ASSERT_TRUE(fx_arrives(3988, 2));
	CU_ASSERT_EQUAL(fx_send(65558, 1), 1);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 2);
}

/* 5.1.6.3.1: with mergeable buffers each is at least as long as the header, and no longer. */
static void
test_mergeable_shortest(void)
{
	fx_start(FE_PLAIN | FE_MRG, 16);
	fx_post(FE_RXQ, 16, 12);
	CU_ASSERT_EQUAL(fx_send(60, 1), 1);
	CU_ASSERT_TRUE(fx_arrives(60, 1));
	CU_ASSERT_EQUAL(fx_send(12 * 10, 2), 0);
	CU_ASSERT_EQUAL(fx_send(12 * 9, 2), 1);
	CU_ASSERT_TRUE(fx_arrives(12 * 9, 2));
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 0);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "MG01: HD07: header always written", test_mg01 },
		{ "MG03, MG07: buffers appear together", test_mg03_mg07 },
		{ "MG05: too few buffers", test_mg05 },
		{ "mergeable: larger than the ring", test_mergeable_too_big },
		{ "mergeable: buffers as short as a header", test_mergeable_shortest },
		CU_TEST_INFO_NULL,
	};

	return fx_run("merge", tests);
}
