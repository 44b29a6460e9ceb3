/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What becomes of mbufs: each is freed once, by whoever owns it, and a received one is as new. */

#include <rte_mempool.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

/* All in one segment, or one in three in two. */
static uint32_t
length(unsigned int i, bool mixed)
{
	return mixed && i % 3 == 0 ? 2500 : 60;
}

/* Others hold these, too: they are as they were, and still theirs. */
static void
test_shared(void)
{
	unsigned int avail = rte_mempool_avail_count(fx.pool);
	struct rte_mbuf *held[32], *pkts[32];

	fx_start(FE_PLAIN, 64);
	for (unsigned int round = 0; round < 10; round++) {
		const unsigned int every = 1 << round / 2;

		fx_post(FE_RXQ, 32, 3000);
		for (unsigned int i = 0; i < 32; i++) {
			pkts[i] = held[i] = fx_packet(length(i, round % 2), i);
			if (i % every == 0)
				rte_pktmbuf_refcnt_update(held[i], 1);
		}
		CU_ASSERT_EQUAL(fx_tx(pkts, 32), 32);
		for (unsigned int i = 0; i < 32; i++) {
			CU_ASSERT_TRUE(fx_arrives(length(i, round % 2), i));
			if (i % every != 0)
				continue;
			CU_ASSERT_EQUAL(rte_mbuf_refcnt_read(held[i]), 1);
			rte_pktmbuf_free(held[i]);
		}
		CU_ASSERT_EQUAL(rte_mempool_avail_count(fx.pool), avail);
	}
}

/* Clones in the middle of a burst: the data is the original's. */
static void
test_clones(void)
{
	struct rte_mbuf *originals[8], *pkts[32];

	fx_start(FE_PLAIN, 64);
	for (unsigned int mixed = 0; mixed < 2; mixed++) {
		fx_post(FE_RXQ, 32, 3000);
		for (unsigned int i = 0; i < 32; i++) {
			pkts[i] = fx_packet(length(i, mixed), i);
			if (i % 4 == 1) {
				originals[i / 4] = pkts[i];
				pkts[i] = rte_pktmbuf_clone(pkts[i], fx.pool);
				CU_ASSERT_PTR_NOT_NULL_FATAL(pkts[i]);
			}
		}
		CU_ASSERT_EQUAL(fx_tx(pkts, 32), 32);
		for (unsigned int i = 0; i < 32; i++)
			CU_ASSERT_TRUE(fx_arrives(length(i, mixed), i));
		for (unsigned int i = 0; i < 8; i++) {
			CU_ASSERT_EQUAL(rte_mbuf_refcnt_read(originals[i]), 1);
			rte_pktmbuf_free(originals[i]);
		}
	}
}

/* Each goes back to its own pool. */
static void
test_two_pools(void)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("second", 32, 0, 0,
			FX_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	struct rte_mbuf *pkts[32];

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	fx_start(FE_PLAIN, 64);
	fx_post(FE_RXQ, 32, 3000);
	for (unsigned int i = 0; i < 32; i++) {
		struct rte_mbuf *m = fx_packet(60, i);

		pkts[i] = m;
		if (i % 5 != 4)
			continue;
		pkts[i] = rte_pktmbuf_copy(m, pool, 0, 60);
		rte_pktmbuf_free(m);
	}
	CU_ASSERT_EQUAL(fx_tx(pkts, 32), 32);
	for (unsigned int i = 0; i < 32; i++)
		CU_ASSERT_TRUE(fx_arrives(60, i));
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), 32);
	rte_mempool_free(pool);
}

static unsigned int freed;

static void
on_free(void *addr, void *arg)
{
	(void)addr;
	(void)arg;
	freed++;
}

/* Data that is nobody's pool's. */
static void
test_external(void)
{
	static struct rte_mbuf_ext_shared_info shinfo = { .free_cb = on_free };
	struct rte_mbuf *m = rte_pktmbuf_alloc(fx.pool);

	freed = 0;
	fx_start(FE_PLAIN, 64);
	fx_post(FE_RXQ, 1, 3000);
	fe_fill(pkt, 60, 1);
	rte_mbuf_ext_refcnt_set(&shinfo, 1);
	rte_pktmbuf_attach_extbuf(m, pkt, RTE_BAD_IOVA, 1000, &shinfo);
	m->data_off = 0;
	rte_pktmbuf_append(m, 60);
	CU_ASSERT_EQUAL(fx_tx(&m, 1), 1);
	CU_ASSERT_EQUAL(freed, 1);
	CU_ASSERT_TRUE(fx_arrives(60, 1));
}

/* Whatever its last user left in it, a received mbuf is as new. */
static void
test_fresh(void)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("fresh", 40, 0, 0,
			FX_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	struct rte_mbuf *all[40];

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	CU_ASSERT_EQUAL(rte_pktmbuf_alloc_bulk(pool, all, 40), 0);
	for (unsigned int i = 0; i < 40; i++) {
		all[i]->data_off = 7;
		all[i]->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_TX_TCP_SEG;
		all[i]->packet_type = RTE_PTYPE_L4_TCP;
		all[i]->vlan_tci = 99;
		all[i]->port = 77;
		all[i]->pkt_len = all[i]->data_len = 1;
		rte_pktmbuf_free(all[i]);
	}
	fx_start_with(&(struct fx_opts){ .pool = pool }, FE_PLAIN, 64, 0);
	for (unsigned int i = 0; i < 100; i++) {
		CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
		CU_ASSERT_TRUE(fx_receives(5000, NULL, 0, false));
		CU_ASSERT_TRUE(fx_receives(60, NULL, 0, true));
	}
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), 40);
	rte_mempool_free(pool);
}

/* A packet that needs more mbufs than there are waits, and takes none meanwhile. */
static void
test_not_enough(void)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("few", 8, 0, 0,
			FX_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	struct rte_mbuf *held[6], *m;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	fx_start_with(&(struct fx_opts){ .pool = pool }, FE_PLAIN, 64, 0);
	CU_ASSERT_EQUAL(rte_pktmbuf_alloc_bulk(pool, held, 6), 0);
	fe_fill(pkt, 6000, 1);
	fe_send(&fx.fe, FE_TXQ, pkt, 6000, NULL, 0, false);
	CU_ASSERT_EQUAL(fx_rx(&m, 1), 0);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), 2);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 0);
	CU_ASSERT_TRUE(fx_stats(&fx.port).rx_nombuf > 0);
	rte_pktmbuf_free_bulk(held, 6);
	CU_ASSERT_EQUAL_FATAL(fx_rx(&m, 1), 1);
	CU_ASSERT_TRUE(fx_is_packet(&fx.port, m, pkt, 6000));
	rte_pktmbuf_free(m);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), 8);
	rte_mempool_free(pool);
}

/* One that no state of the pool can hold must not stop those behind it. */
static void
test_never_enough(void)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("never", 8, 0, 0,
			FX_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	unsigned int n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	fx_start_with(&(struct fx_opts){ .pool = pool }, FE_PLAIN, 64, 0);
	fe_send(&fx.fe, FE_TXQ, pkt, 60000, NULL, 0, false);
	fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
	for (unsigned int i = 0; i < 10; i++)
		n += fx_drain();
	CU_ASSERT_EQUAL(n, 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 2);
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	rte_mempool_free(pool);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "shared", test_shared },
		{ "clones", test_clones },
		{ "two pools", test_two_pools },
		{ "external", test_external },
		{ "received ones are as new", test_fresh },
		{ "not enough for a packet", test_not_enough },
		{ "never enough for a packet", test_never_enough },
		CU_TEST_INFO_NULL,
	};

	return fx_run("mbuf", tests);
}
