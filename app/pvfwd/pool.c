/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <rte_errno.h>
#include <rte_lcore.h>

#include "pvfwd.h"
#include "setup.h"

#define CACHE_SIZE 256

/* The most mbufs that a packet in a Tx ring can have. */
static uint64_t
segs_per_packet(const struct pvfwd_config *cfg)
{
	uint32_t room = cfg->mbuf_size - RTE_PKTMBUF_HEADROOM;
	int64_t len = RTE_MAX(cfg->max_pkt_len, RTE_ETHER_MAX_LEN);
	uint64_t received = cfg->engine->rx ? (len + room - 1) / room : 1;

	return RTE_MAX(received, cfg->nb_segs);
}

/*
 * Enough for every place that can keep mbufs to be full at once: with fewer, a port could wait
 * for mbufs that lie in another's ring.
 */
static int
mbufs_needed(uint64_t *needed)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	uint64_t segs = segs_per_packet(cfg), queues = RTE_MAX(cfg->rxq, cfg->txq);
	uint64_t bursts = 1 + cfg->tx_first; /* held, and going round */
	uint16_t i, rxd, txd;

	*needed = (cfg->nb_cores + 1) * CACHE_SIZE * 3 / 2; /* a cache overflows at 1.5 times */
	for (i = 0; i < pvfwd.nb_ports + cfg->nb_attach; i++) {
		if (i < pvfwd.nb_ports) {
			if (pvfwd_port_check(pvfwd.ports[i], &rxd, &txd) < 0)
				return -1;
		} else { /* not there yet */
			rxd = cfg->rxd != PVFWD_AUTO ? cfg->rxd : RTE_ETH_DEV_FALLBACK_RX_RINGSIZE;
			txd = cfg->txd != PVFWD_AUTO ? cfg->txd : RTE_ETH_DEV_FALLBACK_TX_RINGSIZE;
		}
		*needed += cfg->rxq * rxd + queues * bursts * cfg->burst * segs;
		if (cfg->engine->tx)
			*needed += cfg->txq * txd * segs;
	}
	return 0;
}

int
pvfwd_pool_create(void)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	uint64_t needed, n;

	if (mbufs_needed(&needed) < 0)
		return -1;
	if (cfg->total_num_mbufs != PVFWD_AUTO && (uint64_t)cfg->total_num_mbufs < needed) {
		pvfwd_error("--total-num-mbufs=%" PRId64 ": too few, at least %" PRIu64
			    " are needed",
				cfg->total_num_mbufs, needed);
		return -1;
	}
	n = cfg->total_num_mbufs != PVFWD_AUTO ? (uint64_t)cfg->total_num_mbufs : needed;
	if (n <= UINT32_MAX)
		pvfwd.pool = rte_pktmbuf_pool_create(
				"pvfwd", n, CACHE_SIZE, 0, cfg->mbuf_size, rte_socket_id());
	if (pvfwd.pool == NULL) {
		pvfwd_error("cannot make %" PRIu64 " mbufs of %" PRId64 " bytes: %s%s", n,
				cfg->mbuf_size, rte_strerror(n <= UINT32_MAX ? rte_errno : E2BIG),
				cfg->total_num_mbufs != PVFWD_AUTO
						? " (see --total-num-mbufs)"
						: " (EAL's -m gives more memory)");
		return -1;
	}
	return 0;
}
