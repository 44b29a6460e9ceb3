/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* When each ring runs, and where it stops: named cases. */

#include <sys/eventfd.h>
#include <unistd.h>

#include "fixture.h"

static int
ask(enum pvu_request_nr request, uint32_t ring, uint32_t num)
{
	return peer_ask_state(&fx.fe.peer, request, ring, num);
}

/* Kick descriptor and buffer are there before the ring is enabled. */
static void
test_nt09(void)
{
	struct peer_ring *wire = &fx.fe.ring[FE_TXQ].wire;

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_EQUAL(ask(PVU_SET_VRING_ENABLE, FE_TXQ, 0), 0);
	fx_offer(FE_TXQ, 1);
	CU_ASSERT_EQUAL(eventfd_write(wire->kick_fd, 1), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&fx.fe.peer, PVU_SET_VRING_KICK, FE_TXQ, wire->kick_fd), 0);
	CU_ASSERT_EQUAL(fx_drain(), 0);
	CU_ASSERT_EQUAL(ask(PVU_SET_VRING_ENABLE, FE_TXQ, 1), 0);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

/* No descriptors at all: both sides poll. */
static void
test_nt11(void)
{
	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < 2; i++) {
		struct peer_ring *wire = &fx.fe.ring[i].wire;

		fe_ring_base(&fx.fe, i);
		close(wire->call_fd);
		close(wire->kick_fd);
		wire->call_fd = wire->kick_fd = -1;
		CU_ASSERT_EQUAL(peer_ring_start(&fx.fe.peer, wire), 0);
	}
	for (unsigned int i = 0; i < 5; i++)
		CU_ASSERT_TRUE(fx_good());
}

static void
test_qe01(void)
{
	fx_start_with(&(struct fx_opts){ .pairs = 4 }, FE_PLAIN, 64, 0);
	for (unsigned int i = 2; i < 8; i++)
		CU_ASSERT_EQUAL(peer_ask_fd(&fx.fe.peer, PVU_SET_VRING_CALL, i,
				fx.fe.ring[0].wire.call_fd), 0);
	CU_ASSERT_TRUE(fx_good());
	for (unsigned int i = 1; i < 4; i++) {
		CU_ASSERT_EQUAL(fx_burst(i, 4), 0);
		CU_ASSERT_EQUAL(rte_eth_rx_burst(fx.port.id, i, (struct rte_mbuf *[4]){ 0 }, 4), 0);
	}
}

/* XB05: each ring by itself: a ring enabled late, and one alone. */
static void
test_qe03(void)
{
	struct rte_mbuf *pkts[8];

	fx_start_with(&(struct fx_opts){ .pairs = 4 }, FE_PLAIN, 64, 0);
	CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, 5, 64, 0), 0);
	fx_offer(5, 3);
	CU_ASSERT_EQUAL(rte_eth_rx_burst(fx.port.id, 2, pkts, 8), 3);
	rte_pktmbuf_free_bulk(pkts, 3);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, 5), 3);
	CU_ASSERT_EQUAL(fx_burst(2, 3), 0);
	CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, 4, 64, 0), 0);
	fx_post(4, 3, 200);
	CU_ASSERT_EQUAL(fx_burst(2, 3), 3);
	CU_ASSERT_EQUAL(fx_collect(4), 3);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).q_opackets[2], 3);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).q_ipackets[2], 3);
}

static void
test_qe07(void)
{
	uint32_t num;

	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ .pairs = 4 }), 0);
	CU_ASSERT_EQUAL_FATAL(peer_connect(&fx.fe.peer, fx.port.path), 0);
	CU_ASSERT_EQUAL(peer_get_base(&fx.fe.peer, 3, &num), 0);
	CU_ASSERT_EQUAL(num & 0x7fff, 0);
	CU_ASSERT_EQUAL(fe_greet(&fx.fe, FE_PLAIN), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&fx.fe.peer, PVU_SET_VRING_CALL, 5, -1), 0);
	CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, 0, 16, 0), 0);
	CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, 1, 16, 0), 0);
}

/* XB03: the base is exact for each ring, on a repeat, too; the ring is stopped. */
static void
test_qe09(void)
{
	struct pvq_cursor base;

	fx_start(FE_PLAIN, 256);
	for (unsigned int i = 0; i < 1234; i++) {
		fx_offer(FE_TXQ, 1);
		CU_ASSERT_EQUAL(fx_drain(), 1);
		fe_reap(&fx.fe, FE_TXQ);
	}
	fx_post(FE_RXQ, 77, 200);
	for (unsigned int i = 0; i < 77; i += 7)
		CU_ASSERT_EQUAL(fx_burst(0, 7), 7);
	for (unsigned int i = 0; i < 2; i++) {
		base = fe_ring_base(&fx.fe, FE_RXQ);
		CU_ASSERT_EQUAL(base.idx, 77);
		CU_ASSERT_TRUE(base.wrap);
		base = fe_ring_base(&fx.fe, FE_TXQ);
		CU_ASSERT_EQUAL(base.idx, 1234 % 256);
		CU_ASSERT_TRUE(base.wrap);
	}
	CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 77);
	fx_offer(FE_TXQ, 1);
	fx_post(FE_RXQ, 1, 200);
	CU_ASSERT_EQUAL(fx_drain(), 0);
	CU_ASSERT_EQUAL(fx_burst(0, 1), 0);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_RXQ), 0);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_TXQ), 0);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fx_burst(0, 1), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ) + fx_collect(FE_RXQ), 2);
}

/* Stopped with buffers outstanding: what was taken has been given back, the rest is untouched. */
static void
test_xb06(void)
{
	struct rte_mbuf *m;

	fx_start(FE_PLAIN, 16);
	fx_offer(FE_TXQ, 4);
	CU_ASSERT_EQUAL_FATAL(fx_rx(&m, 1), 1);
	rte_pktmbuf_free(m);
	CU_ASSERT_EQUAL(fe_ring_base(&fx.fe, FE_TXQ).idx, 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_TXQ), 0);
	CU_ASSERT_EQUAL(fx_drain(), 3);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 3);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "NT09: kick before enable", test_nt09 },
		{ "NT11: no descriptors", test_nt11 },
		{ "QE01: unused rings", test_qe01 },
		{ "QE03, XB05: each ring by itself", test_qe03 },
		{ "QE07: rings never created", test_qe07 },
		{ "QE09, XB03: base is exact", test_qe09 },
		{ "XB06: base with buffers outstanding", test_xb06 },
		CU_TEST_INFO_NULL,
	};

	return fx_run("queue", tests);
}
