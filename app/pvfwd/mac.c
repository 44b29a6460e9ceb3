/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "engine.h"
#include "tx.h"

static void
rewrite(struct pvfwd_stream *s, uint16_t n)
{
	struct rte_ether_hdr *eth;
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (i + 1 < n)
			rte_prefetch0(rte_pktmbuf_mtod(s->pkts[i + 1], void *));
		eth = rte_pktmbuf_mtod(s->pkts[i], struct rte_ether_hdr *);
		rte_ether_addr_copy(&s->mac_dst, &eth->dst_addr);
		rte_ether_addr_copy(&s->mac_src, &eth->src_addr);
	}
}

static uint16_t
mac_burst(struct pvfwd_stream *s)
{
	uint16_t n;

	if (unlikely(s->nb_held > 0))
		return pvfwd_tx_again(s);
	n = pvfwd_rx(s);
	if (n == 0)
		return 0;
	rewrite(s, n);
	return n + pvfwd_tx(s);
}

const struct pvfwd_engine pvfwd_engine_mac = {
	.name = "mac",
	.rx = true,
	.tx = true,
	.burst = mac_burst,
};
