/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Thousands of random packets in random shapes, both ways, byte by byte, over every size of ring
 * and set of features.
 */

#include "flow.h"

#define ROUNDS 60

static const uint16_t packed_sizes[] = { 1, 2, 5, 96, 256, 1000, 32768 };
static const uint16_t split_sizes[] = { 1, 2, 8, 128, 256, 1024, 32768 };

static struct flow flow;

static void
run_flow(const struct flow_conf *conf, unsigned int rounds)
{
	struct rte_eth_stats stats, start = fx_stats(&fx.port);

	flow_init(&flow, &fx.fe, &fx.port, conf);
	for (unsigned int i = 0; i < rounds && fx.fe.faults == 0; i++) {
		flow_receive(&flow);
		flow_send(&flow);
	}
	CU_ASSERT_TRUE(flow_settle(&flow));
	CU_ASSERT_EQUAL(fx.fe.faults, 0);
	CU_ASSERT_TRUE(flow.received > 0 && flow.arrived > 0);
	CU_ASSERT_TRUE(fe_ring_level(&fx.fe, FE_RXQ));
	CU_ASSERT_TRUE(fe_ring_level(&fx.fe, FE_TXQ));
	stats = fx_stats(&fx.port);
	CU_ASSERT_EQUAL(stats.ipackets - start.ipackets, flow.received);
	CU_ASSERT_EQUAL(stats.opackets - start.opackets, flow.accepted);
	CU_ASSERT_EQUAL(stats.ierrors, 0);
	CU_ASSERT_EQUAL(stats.oerrors, 0);
}

/* What fits each packet into one buffer, or with mergeable buffers into a full ring. */
static struct flow_conf
conf_for(uint64_t features, uint16_t size)
{
	struct flow_conf conf = {
		.min_len = 14,
		.max_len = 9018,
		.max_segs = 12,
		.burst = FLOW_BURST,
		.indirect = true,
		.min_room = 9030,
		.max_room = 9100,
	};

	if (features & FE_MRG) {
		conf.min_room = size <= FLOW_BURST ? 2048 : 13 + 14;
		conf.max_room = 4000;
		conf.max_len = RTE_MIN(9018, size * 2048 - 12);
	}
	return conf;
}

static void
all_sizes(uint64_t features)
{
	fx_start(features, 256);
	for (unsigned int i = 0; i < RTE_DIM(packed_sizes); i++) {
		uint16_t size = features & FE_PACKED ? packed_sizes[i] : split_sizes[i];
		struct flow_conf conf = conf_for(features, size);

		/* Soon over the ring's end, on both kinds of lap; a split index also overflows. */
		for (uint64_t lap = 0; lap < 2; lap++) {
			uint64_t end = features & FE_PACKED ? (lap + 1) * size : 65536 - lap * size;

			fx_restart(features, size, end - size / 3 - 1);
			run_flow(&conf, ROUNDS);
		}
	}
	fx_restart(features, 64, 0);
}

static void
test_plain(void)
{
	all_sizes(FE_PLAIN);
}

static void
test_mergeable(void)
{
	all_sizes(FE_PLAIN | FE_MRG);
}

static void
test_in_order(void)
{
	all_sizes(FE_PLAIN | FE_IN_ORDER);
}

static void
test_mergeable_in_order(void)
{
	all_sizes(FE_PLAIN | FE_MRG | FE_IN_ORDER);
}

static void
test_event_idx(void)
{
	all_sizes(FE_PLAIN | FE_EVENT_IDX);
}

static void
test_everything(void)
{
	all_sizes(FE_PLAIN | FE_MRG | FE_IN_ORDER | FE_EVENT_IDX);
}

/* Neither VERSION_1 nor anything else: the header has 12 bytes all the same. */
static void
test_packed_only(void)
{
	all_sizes(FE_PACKED);
}

static void
test_split(void)
{
	all_sizes(FE_SPLIT);
}

static void
test_split_mergeable(void)
{
	all_sizes(FE_SPLIT | FE_MRG);
}

static void
test_split_everything(void)
{
	all_sizes(FE_SPLIT | FE_MRG | FE_IN_ORDER | FE_EVENT_IDX);
}

/* HD05: neither VERSION_1 nor MRG_RXBUF: the header has 10 bytes. */
static void
test_split_legacy(void)
{
	all_sizes(FE_INDIRECT);
}

/* HD05: MRG_RXBUF alone makes it 12. */
static void
test_split_legacy_mergeable(void)
{
	all_sizes(FE_MRG);
}

/* 70,000 buffers each way through a ring whose size does not divide 65536. */
static void
test_pk05(void)
{
	const struct flow_conf conf = {
		.min_len = 60,
		.max_len = 64,
		.min_room = 76,
		.max_room = 80,
		.max_segs = 1,
		.burst = FLOW_BURST,
	};

	fx_start(FE_PLAIN, 1000);
	flow_init(&flow, &fx.fe, &fx.port, &conf);
	while (flow.received < 70000 || flow.arrived < 70000) {
		unsigned int n = flow_receive(&flow) + flow_send(&flow);

		if (fx.fe.faults != 0 || (n == 0 && flow.offered == 0))
			break;
	}
	CU_ASSERT_TRUE(flow.received >= 70000 && flow.arrived >= 70000);
	CU_ASSERT_TRUE(flow_settle(&flow));
	CU_ASSERT_TRUE(fe_ring_level(&fx.fe, FE_RXQ));
	CU_ASSERT_TRUE(fe_ring_level(&fx.fe, FE_TXQ));
	fx_restart(FE_PLAIN, 64, 0);
}

/* Bursts of every length over the end of a ring that no batch divides. */
static void
test_pk14(void)
{
	struct flow_conf conf = {
		.min_len = 60,
		.max_len = 600,
		.min_room = 700,
		.max_room = 700,
		.max_segs = 1,
	};
	unsigned int lens[] = { 1, 3, 4, 5, 7, 8, 10, 32 };

	fx_start(FE_PLAIN, 10);
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		conf.burst = lens[i];
		fx_restart(FE_PLAIN, 10, 8);
		run_flow(&conf, 500);
	}
	fx_restart(FE_PLAIN, 64, 0);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "plain", test_plain },
		{ "mergeable", test_mergeable },
		{ "in_order", test_in_order },
		{ "mergeable, in_order", test_mergeable_in_order },
		{ "EVENT_IDX", test_event_idx },
		{ "all features", test_everything },
		{ "packed only", test_packed_only },
		{ "split", test_split },
		{ "split, mergeable", test_split_mergeable },
		{ "split, all features", test_split_everything },
		{ "HD05: split, legacy", test_split_legacy },
		{ "HD05: split, legacy, mergeable", test_split_legacy_mergeable },
		{ "PK05: 70,000 buffers", test_pk05 },
		{ "PK14: bursts over the end", test_pk14 },
		CU_TEST_INFO_NULL,
	};

	return fx_run("random", tests);
}
