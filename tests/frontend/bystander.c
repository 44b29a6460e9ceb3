/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "bystander.h"

/* Far above what a busy machine does by itself, below what a blocked control thread would. */
#define LONGEST_PAUSE_MS 1000

static struct {
	struct fx_port port;
	struct fe fe;
	struct flow_thread traffic;
} other;

void
bystander_start(void)
{
	const struct flow_conf conf = {
		.min_len = 14, .max_len = 3000, .min_room = 3012, .max_room = 3100, .max_segs = 4,
		.burst = FLOW_BURST, .indirect = true,
	};

	CU_ASSERT_EQUAL_FATAL(fx_port_open(&other.port, &(struct fx_opts){ 0 }), 0);
	CU_ASSERT_EQUAL_FATAL(fe_open(&other.fe, other.port.path, FE_PLAIN), 0);
	CU_ASSERT_EQUAL_FATAL(fe_ring_up(&other.fe, FE_RXQ, 256, 0), 0);
	CU_ASSERT_EQUAL_FATAL(fe_ring_up(&other.fe, FE_TXQ, 256, 0), 0);
	flow_thread_start(&other.traffic, &other.fe, &other.port, &conf);
}

bool
bystander_lives(void)
{
	uint64_t features;

	return flow_thread_moves(&other.traffic, 100) &&
			peer_get_u64(&other.fe.peer, PVU_GET_FEATURES, &features) == 0;
}

void
bystander_stop(void)
{
	CU_ASSERT_TRUE(bystander_lives());
	CU_ASSERT_TRUE(flow_thread_stop(&other.traffic, LONGEST_PAUSE_MS));
	CU_ASSERT_TRUE(flow_settle(&other.traffic.flow));
	CU_ASSERT_EQUAL(other.fe.faults, 0);
	CU_ASSERT_TRUE(fe_ring_level(&other.fe, FE_RXQ));
	CU_ASSERT_TRUE(fe_ring_level(&other.fe, FE_TXQ));
	fe_close(&other.fe);
	fx_port_close(&other.port);
}
