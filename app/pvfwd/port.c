/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>

#include <rte_errno.h>

#include "pvfwd.h"
#include "setup.h"

static int
failed(uint16_t port, const char *what, int err)
{
	pvfwd_error("port %u: cannot %s: %s", port, what, rte_strerror(-err));
	return -1;
}

static int
get_info(uint16_t port, struct rte_eth_dev_info *info)
{
	int ret = rte_eth_dev_info_get(port, info);

	return ret < 0 ? failed(port, "query the device", ret) : 0;
}

/* The size asked for must be one the port takes; its own default is bent to its limits. */
static int
ring_size(uint16_t port, const char *option, int64_t asked, uint16_t preferred,
		const struct rte_eth_desc_lim *lim, uint16_t *size)
{
	uint32_t n = asked != PVFWD_AUTO ? (uint32_t)asked
		     : preferred != 0    ? preferred
					 : RTE_ETH_DEV_FALLBACK_RX_RINGSIZE;
	uint32_t align = RTE_MAX(lim->nb_align, 1);
	uint32_t max = lim->nb_max != 0 ? lim->nb_max : UINT16_MAX;

	if (asked == PVFWD_AUTO)
		n = RTE_MAX(RTE_MIN(RTE_ALIGN_MUL_CEIL(n, align), max), lim->nb_min);
	if (n < lim->nb_min || n > max || n % align != 0) {
		pvfwd_error("port %u: --%s=%u: the port takes %u to %u in steps of %u", port,
				option, n, lim->nb_min, max, align);
		return -1;
	}
	*size = n;
	return 0;
}

static int
check_queues(uint16_t port, const struct rte_eth_dev_info *info)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;

	if (cfg->rxq > info->max_rx_queues) {
		pvfwd_error("port %u: --rxq=%" PRId64 ": the port has %u", port, cfg->rxq,
				info->max_rx_queues);
		return -1;
	}
	if (cfg->txq > info->max_tx_queues) {
		pvfwd_error("port %u: --txq=%" PRId64 ": the port has %u", port, cfg->txq,
				info->max_tx_queues);
		return -1;
	}
	return 0;
}

int
pvfwd_port_check(uint16_t port, uint16_t *rxd, uint16_t *txd)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	struct rte_eth_dev_info info;

	if (get_info(port, &info) < 0 || check_queues(port, &info) < 0 ||
			ring_size(port, "rxd", cfg->rxd, info.default_rxportconf.ring_size,
					&info.rx_desc_lim, rxd) < 0 ||
			ring_size(port, "txd", cfg->txd, info.default_txportconf.ring_size,
					&info.tx_desc_lim, txd) < 0)
		return -1;
	return 0;
}

/*
 * A receiving port scatters if it can: what comes may be longer than we were told, and would be
 * lost otherwise. One that cannot must have mbufs that are large enough.
 */
static int
conf_rx(uint16_t port, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	unsigned int room = cfg->mbuf_size - RTE_PKTMBUF_HEADROOM;
	int64_t len = cfg->max_pkt_len == PVFWD_AUTO ? RTE_ETHER_MAX_LEN : cfg->max_pkt_len;
	int64_t mtu = RTE_MAX(len - PVFWD_L2_OVERHEAD, RTE_ETHER_MIN_MTU);

	conf->rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	if (len > room && conf->rxmode.offloads == 0) {
		if (!cfg->engine->rx)
			return 0; /* nothing this long will come: the default MTU does */
		pvfwd_error("port %u: cannot receive packets of %" PRId64 " bytes in mbufs of %u, "
			    "nor scatter them: raise --mbuf-size",
				port, len, room);
		return -1;
	}
	if (cfg->max_pkt_len == PVFWD_AUTO)
		return 0;
	if (info->max_mtu != 0 && mtu > info->max_mtu) {
		pvfwd_error("port %u: packets of %" PRId64 " bytes need an MTU of %" PRId64
			    ", the port allows %u",
				port, len, mtu, info->max_mtu);
		return -1;
	}
	conf->rxmode.mtu = mtu;
	return 0;
}

static int
conf_tx(uint16_t port, const struct rte_eth_dev_info *info, uint16_t txd, struct rte_eth_conf *conf)
{
	uint16_t nb_segs = pvfwd.cfg.engine->tx ? pvfwd.cfg.nb_segs : 1;
	unsigned int max = txd;

	/* all mbufs are of one pool and used once, as fast free demands */
	conf->txmode.offloads = info->tx_offload_capa &
				(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	if (!(info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		max = 1;
	else if (info->tx_desc_lim.nb_seg_max != 0)
		max = RTE_MIN(max, info->tx_desc_lim.nb_seg_max);
	if (nb_segs > max) {
		pvfwd_error("port %u: --txpkts of %u segments: the port takes %u", port, nb_segs,
				max);
		return -1;
	}
	return 0;
}

static int
setup_queues(uint16_t port, uint16_t rxd, uint16_t txd)
{
	int socket = rte_eth_dev_socket_id(port), ret;
	uint16_t q;

	for (q = 0; q < pvfwd.cfg.rxq; q++) {
		ret = rte_eth_rx_queue_setup(port, q, rxd, socket, NULL, pvfwd.pool);
		if (ret < 0)
			return failed(port, "set up an Rx queue", ret);
	}
	for (q = 0; q < pvfwd.cfg.txq; q++) {
		ret = rte_eth_tx_queue_setup(port, q, txd, socket, NULL);
		if (ret < 0)
			return failed(port, "set up a Tx queue", ret);
	}
	return 0;
}

int
pvfwd_port_start(uint16_t port)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	uint16_t rxd, txd;
	int ret;

	if (pvfwd_port_check(port, &rxd, &txd) < 0 || get_info(port, &info) < 0 ||
			conf_rx(port, &info, &conf) < 0 || conf_tx(port, &info, txd, &conf) < 0)
		return -1;
	ret = rte_eth_dev_configure(port, pvfwd.cfg.rxq, pvfwd.cfg.txq, &conf);
	if (ret < 0)
		return failed(port, "configure it", ret);
	if (setup_queues(port, rxd, txd) < 0)
		return -1;
	/* some drivers heed the MTU only here */
	if (conf.rxmode.mtu != 0) {
		ret = rte_eth_dev_set_mtu(port, conf.rxmode.mtu);
		if (ret < 0 && ret != -ENOTSUP)
			return failed(port, "set the MTU that --max-pkt-len needs", ret);
	}
	ret = rte_eth_dev_start(port);
	if (ret < 0)
		return failed(port, "start it", ret);
	rte_eth_promiscuous_enable(port); /* as testpmd; a port that cannot takes everything */
	return 0;
}

void
pvfwd_port_close(uint16_t port)
{
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
}
