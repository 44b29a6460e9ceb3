/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <rte_cycles.h>

#include "engine.h"
#include "pvfwd.h"
#include "verify.h"

static uint16_t
rxonly_burst(struct pvfwd_stream *s)
{
	uint16_t n = rte_eth_rx_burst(s->rx_port, s->rx_queue, s->pkts, s->burst);
	uint64_t bytes;

	if (n == 0)
		return 0;
	bytes = pvfwd_verify_burst(s->verify, s->pkts, n, rte_rdtsc());
	rte_pktmbuf_free_bulk(s->pkts, n);
	pvfwd_add(&s->count.rx_packets, n);
	pvfwd_add(&s->count.rx_bytes, bytes);
	return n;
}

const struct pvfwd_engine pvfwd_engine_rxonly = {
	.name = "rxonly",
	.rx = true,
	.burst = rxonly_burst,
};
