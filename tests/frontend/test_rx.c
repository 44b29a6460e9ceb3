/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The driver sends, the port receives: named cases. */

#include <linux/virtio_net.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

/* Every length that matters, in one buffer of one segment, of three, and indirect. */
static void
test_lengths(void)
{
	static const uint32_t lens[] = { 14, 15, 59, 60, 61, 1514, 2047, 2048, 2049, 4096, 4097,
		9018, 65535, 65557 };

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		uint32_t len = lens[i];

		CU_ASSERT_TRUE(fx_receives(len, NULL, 0, false));
		CU_ASSERT_TRUE(fx_receives(len, SEGS(12, 7, len - 7), false));
		CU_ASSERT_TRUE(fx_receives(len, SEGS(12 + len), true));
		CU_ASSERT_TRUE(fx_receives(len, SEGS(12, 0, len - 1, 1), true));
	}
	CU_ASSERT_EQUAL(fx_stats(&fx.port).ipackets, 4 * RTE_DIM(lens));
	CU_ASSERT_EQUAL(fx_stats(&fx.port).ierrors, 0);
}

static void
test_hd01(void)
{
	fx_start(FE_PLAIN, 16);
	CU_ASSERT_TRUE(fx_receives(60, SEGS(4, 4, 4, 60), false));
	CU_ASSERT_TRUE(fx_receives(60, SEGS(12, 60), false));
	CU_ASSERT_TRUE(fx_receives(60, SEGS(11, 1, 60), false));
	CU_ASSERT_TRUE(fx_receives(60, SEGS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 60), false));
	CU_ASSERT_TRUE(fx_receives(60, SEGS(4, 4, 4, 60), true));
	CU_ASSERT_TRUE(fx_receives(60, SEGS(11, 1, 60), true));
}

/* 12 bytes whenever the ring is packed, also after the features change on the same connection. */
static void
test_hd05(void)
{
	static const uint64_t sets[] = { FE_PACKED, FE_PACKED | FE_MRG, FE_PACKED | FE_VERSION_1,
		FE_PACKED | FE_VERSION_1 | FE_MRG };

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(sets); i++) {
		fx_restart(sets[i], 16, 0);
		CU_ASSERT_TRUE(fx_good());
		/* MRG_RXBUF is no matter of the ring's layout: it may go while rings run. */
		CU_ASSERT_EQUAL(peer_ask_u64(&fx.fe.peer, PVU_SET_FEATURES,
				(sets[i] & ~FE_MRG) | PVU_F_PROTOCOL_FEATURES), 0);
		fx.fe.features &= ~FE_MRG;
		CU_ASSERT_TRUE(fx_good());
	}
}

/* No offload is negotiated: whatever the header says, the packet is a plain one. */
static void
test_hd07_received(void)
{
	struct virtio_net_hdr_mrg_rxbuf hdr = {
		.hdr = { .flags = 0xff, .gso_type = 0x81, .hdr_len = 0xffff, .gso_size = 1400,
			 .csum_start = 0xffff, .csum_offset = 16 },
		.num_buffers = 0xffff,
	};
	struct rte_mbuf *m;
	struct fe_buf *buf;

	fx_start(FE_PLAIN, 16);
	fe_fill(pkt, 100, 1);
	buf = fe_buf(&fx.fe, SEGS(112));
	fe_buf_put(&fx.fe, buf, 0, &hdr, sizeof(hdr));
	fe_buf_put(&fx.fe, buf, 12, pkt, 100);
	fe_offer(&fx.fe, FE_TXQ, buf, false, false);
	CU_ASSERT_EQUAL_FATAL(fx_rx(&m, 1), 1);
	CU_ASSERT_TRUE(fx_is_packet(&fx.port, m, pkt, 100));
	CU_ASSERT_EQUAL(m->tso_segsz, 0);
	rte_pktmbuf_free(m);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

/* DPDK's virtio driver leaves WRITE in its tables: on the header's entry, and on the one whose
 * number is that of the table's slot. Both are forgiven, and no other.
 */
static void
test_stale_write(void)
{
	static const struct {
		uint32_t lens[3];
		uint8_t n, write;
		bool taken;
	} by_slot[] = {
		{ { 100, 12 }, 2, 0x1, true },
		{ { 12, 60 }, 2, 0x3, true },
		{ { 12, 60, 60 }, 3, 0x5, true },
		{ { 12, 60 }, 2, 0x1, true },
		{ { 12, 60 }, 2, 0x3, false },
		{ { 6, 60, 60 }, 3, 0x1, false },
		{ { 112 }, 1, 0x1, false },
	};

	fx_start(FE_PLAIN, 16);
	fe_fill(pkt, 200, 1);
	for (unsigned int slot = 0; slot < RTE_DIM(by_slot); slot++) {
		struct fe_buf *buf = fe_buf(&fx.fe, by_slot[slot].lens, by_slot[slot].n);

		fe_offer(&fx.fe, FE_TXQ, buf, false, true);
		for (unsigned int i = 0; i < buf->n; i++)
			fe_table_flags(&fx.fe, buf->table, i,
					by_slot[slot].write >> i & 1 ? VRING_DESC_F_WRITE : 0);
		CU_ASSERT_EQUAL(fx_drain(), by_slot[slot].taken);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	}
}

/* Without scatter an application never sees a chain. */
static void
test_jm07(void)
{
	fx_start_with(&(struct fx_opts){ .no_scatter = true }, FE_PLAIN, 16, 0);
	fe_fill(pkt, 4000, 1);
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 4000, NULL, 0, false) >= 0);
	CU_ASSERT_TRUE(fx_drops(1));
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 4000, SEGS(12, 2000, 2000), false) >= 0);
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 2049, NULL, 0, true) >= 0);
	CU_ASSERT_TRUE(fx_drops(2));
	CU_ASSERT_TRUE(fx_receives(2048, NULL, 0, false));
	CU_ASSERT_TRUE(fx_receives(2048, SEGS(6, 6, 2048), false));
}

/* The largest packet takes 33 mbufs; 60 are free. */
static void
test_jm05(void)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("jm05", 60, 0, 0,
			FX_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	fx_start_with(&(struct fx_opts){ .pool = pool }, FE_PLAIN, 16, 0);
	CU_ASSERT_TRUE(fx_receives(65536, NULL, 0, false));
	CU_ASSERT_TRUE(fx_receives(65557, SEGS(12, 65557), true));
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), 60);
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	rte_mempool_free(pool);
}

/* A pool of 8 mbufs, 64 packets: what finds no mbuf waits in the ring. */
static void
test_lk01(void)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("lk01", 8, 0, 0,
			FX_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	struct rte_mbuf *pkts[64];
	unsigned int got = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	fx_start_with(&(struct fx_opts){ .pool = pool }, FE_PLAIN, 64, 0);
	for (unsigned int i = 0; i < 64; i++) {
		fe_fill(pkt, 60 + i, i);
		fe_send(&fx.fe, FE_TXQ, pkt, 60 + i, NULL, 0, i % 3 == 0);
	}
	CU_ASSERT_EQUAL(fx_rx(pkts, 64), 8);
	CU_ASSERT_EQUAL(fx_rx(pkts + 8, 56), 0);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 8);
	CU_ASSERT_TRUE(fx_stats(&fx.port).rx_nombuf > 0);
	for (uint16_t n = 8; n > 0; n = fx_rx(pkts, 64))
		for (uint16_t i = 0; i < n; i++, got++) {
			fe_fill(pkt, 60 + got, got);
			CU_ASSERT_TRUE(fx_is_packet(&fx.port, pkts[i], pkt, 60 + got));
			rte_pktmbuf_free(pkts[i]);
		}
	CU_ASSERT_EQUAL(got, 64);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 56);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).ipackets, 64);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), 8);
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	rte_mempool_free(pool);
}

static void
check_idle(void)
{
	struct rte_mbuf *m = (void *)&fx, *same = m;

	CU_ASSERT_EQUAL(fx_rx(&m, 1), 0);
	CU_ASSERT_PTR_EQUAL(m, same);
	m = fx_mbuf(pkt, 60, NULL, 0);
	same = m;
	CU_ASSERT_EQUAL(fx_tx(&m, 1), 0);
	CU_ASSERT_PTR_EQUAL(m, same);
	CU_ASSERT_EQUAL(rte_mbuf_refcnt_read(m), 1);
	rte_pktmbuf_free(m);
}

/* A ring that is not ready gives and takes nothing. */
static void
test_lk03(void)
{
	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ 0 }), 0);
	check_idle();
	fx_restart(FE_PLAIN, 16, 0);
	CU_ASSERT_TRUE(fx_good());
	fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
	fe_post(&fx.fe, FE_RXQ, SEGS(100), false);
	CU_ASSERT_EQUAL(peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, FE_RXQ, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, FE_TXQ, 0), 0);
	check_idle();
	CU_ASSERT_EQUAL(peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, FE_TXQ, 1), 0);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	fe_close(&fx.fe);
	check_idle();
	fx_restart(FE_PLAIN, 16, 0);
}

/* SP07, for a packed ring: nothing is held back. */
static void
test_sp07(void)
{
	struct rte_mbuf *pkts[32];

	fx_start(FE_PLAIN, 256);
	fe_fill(pkt, 60, 1);
	fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
	CU_ASSERT_EQUAL_FATAL(fx_rx(pkts, 32), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	rte_pktmbuf_free(pkts[0]);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "lengths and shapes", test_lengths },
		{ "HD01: header over several descriptors", test_hd01 },
		{ "HD05: header length", test_hd05 },
		{ "HD07: header content ignored", test_hd07_received },
		{ "WRITE left in tables", test_stale_write },
		{ "JM05: 64 KiB from a small pool", test_jm05 },
		{ "JM07: no scatter", test_jm07 },
		{ "LK01: mempool runs dry", test_lk01 },
		{ "LK03: ring not ready", test_lk03 },
		{ "SP07: nothing held back", test_sp07 },
		CU_TEST_INFO_NULL,
	};

	return fx_run("rx", tests);
}
