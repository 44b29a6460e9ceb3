/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The port sends, the driver receives: named cases. */

#include <string.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

static void
test_lengths(void)
{
	static const uint32_t lens[] = { 1, 14, 59, 60, 61, 1514, 2047, 2048, 2049, 4096, 9018,
		65535, 65557 };

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		uint32_t len = lens[i];

		CU_ASSERT_TRUE(fx_sends(len, SEGS(12 + len), false));
		CU_ASSERT_TRUE(fx_sends(len, SEGS(12, len, 100), false));
		CU_ASSERT_TRUE(fx_sends(len, SEGS(13 + len), true));
		CU_ASSERT_TRUE(fx_sends(len, SEGS(12, 0, len - 1, 1), true));
	}
	CU_ASSERT_EQUAL(fx_stats(&fx.port).opackets, 4 * RTE_DIM(lens));
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 0);
}

/* One packet of 9,000 bytes from 7 to 40 mbufs, one in five empty. */
static void
test_segments(void)
{
	uint32_t lens[40];

	fx_start(FE_PLAIN, 16);
	fe_fill(pkt, 9000, 1);
	for (unsigned int n = 7; n <= RTE_DIM(lens); n++) {
		uint32_t left = 9000, part = 9000 / (n - (n + 2) / 5) + 1;
		struct rte_mbuf *m;

		for (unsigned int i = 0; i < n; i++) {
			lens[i] = i % 5 == 2 ? 0 : RTE_MIN(left, part);
			left -= lens[i];
		}
		m = fx_mbuf(pkt, 9000, lens, n);
		CU_ASSERT_EQUAL(m->nb_segs, n);
		fx_post(FE_RXQ, 1, 9100);
		CU_ASSERT_EQUAL(fx_tx(&m, 1), 1);
		CU_ASSERT_TRUE(fx_arrives(9000, 1));
	}
}

static void
test_hd03(void)
{
	fx_start(FE_PLAIN, 16);
	CU_ASSERT_TRUE(fx_sends(60, SEGS(5, 7, 2000), false));
	CU_ASSERT_TRUE(fx_sends(1514, SEGS(5, 7, 2000), true));
	CU_ASSERT_TRUE(fx_sends(60, SEGS(1, 10, 2, 2000), false));
	CU_ASSERT_TRUE(fx_sends(60, SEGS(11, 2000), false));
	fx_restart(FE_PLAIN | FE_MRG, 16, 0);
	CU_ASSERT_TRUE(fx_sends(60, SEGS(5, 7, 2000), false));
}

static void
test_jm01(void)
{
	uint32_t lens[40];

	fx_start(FE_PLAIN, 64);
	for (unsigned int i = 0; i < RTE_DIM(lens); i++)
		lens[i] = 2048;
	CU_ASSERT_TRUE(fx_sends(1500, SEGS(70000), false));
	CU_ASSERT_TRUE(fx_sends(1500, lens, RTE_DIM(lens), false));
	CU_ASSERT_TRUE(fx_sends(1500, lens, RTE_DIM(lens), true));
	CU_ASSERT_TRUE(fx_sends(65557, lens, RTE_DIM(lens), false));
}

static void
test_jm03(void)
{
	fx_start(FE_PLAIN, 16);
	fx_post(FE_RXQ, 4, 600);
	CU_ASSERT_EQUAL(fx_send(1500, 1), 1);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 1);
	for (unsigned int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(fx_send(64, 10 + i), 1);
	for (unsigned int i = 0; i < 4; i++)
		CU_ASSERT_TRUE(fx_arrives(64, 10 + i));
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 1);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).opackets, 4);
}

static void
test_st01(void)
{
	struct rte_mbuf *pkts[32];
	struct rte_eth_stats stats;

	fx_start(FE_PLAIN, 64);
	fx_post(FE_RXQ, 5, 2000);
	for (unsigned int i = 0; i < 32; i++)
		pkts[i] = fx_packet(60 + i, i);
	CU_ASSERT_EQUAL(fx_tx(pkts, 32), 5);
	stats = fx_stats(&fx.port);
	CU_ASSERT_EQUAL(stats.opackets, 5);
	CU_ASSERT_EQUAL(stats.q_opackets[0], 5);
	CU_ASSERT_EQUAL(stats.obytes, 60 + 61 + 62 + 63 + 64);
	CU_ASSERT_EQUAL(stats.oerrors, 0);
	rte_pktmbuf_free_bulk(pkts + 5, 27);
	for (unsigned int i = 0; i < 5; i++)
		CU_ASSERT_TRUE(fx_arrives(60 + i, i));
}

static void
test_st03(void)
{
	const struct rte_eth_stats none = { 0 };
	struct rte_eth_xstat xstats[256];
	struct rte_eth_stats stats;
	int n;

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_TRUE(fx_good() && fx_good());
	CU_ASSERT_EQUAL(rte_eth_stats_reset(fx.port.id), 0);
	stats = fx_stats(&fx.port);
	CU_ASSERT_EQUAL(memcmp(&stats, &none, sizeof(none)), 0);
	CU_ASSERT_TRUE(fx_good());
	CU_ASSERT_EQUAL(rte_eth_xstats_reset(fx.port.id), 0);
	CU_ASSERT_TRUE(fx_good());
	CU_ASSERT_EQUAL(rte_eth_dev_stop(fx.port.id), 0);
	stats = fx_stats(&fx.port);
	CU_ASSERT_EQUAL(stats.ipackets, 1);
	CU_ASSERT_EQUAL(stats.ibytes, 100);
	CU_ASSERT_EQUAL(stats.opackets, 1);
	n = rte_eth_xstats_get(fx.port.id, xstats, RTE_DIM(xstats));
	CU_ASSERT_TRUE(n > 0);
	for (int i = 0; i < n && i < (int)RTE_DIM(xstats); i++)
		CU_ASSERT_TRUE(xstats[i].value <= 200);
	CU_ASSERT_EQUAL(rte_eth_dev_start(fx.port.id), 0);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "lengths and shapes", test_lengths },
		{ "9,000 bytes in any number of mbufs", test_segments },
		{ "HD03: header over several descriptors", test_hd03 },
		{ "JM01: more room than 16 bits", test_jm01 },
		{ "JM03: larger than the buffer", test_jm03 },
		{ "ST01: unsent packets", test_st01 },
		{ "ST03: statistics cleared", test_st03 },
		CU_TEST_INFO_NULL,
	};

	return fx_run("tx", tests);
}
