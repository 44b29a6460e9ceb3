/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stddef.h>
#include <stdio.h>

#include <ethdev_driver.h>

#include "pvhost.h"

/* A queue's counters since the last reset. The data thread goes on counting meanwhile. */
static struct pvhost_counters
counted(const struct pvhost_queue *q)
{
	return (struct pvhost_counters){
		.packets = q->count.packets - q->base.packets,
		.bytes = q->count.bytes - q->base.bytes,
		.bad = q->count.bad - q->base.bad,
		.too_big = q->count.too_big - q->base.too_big,
		.no_mbuf = q->count.no_mbuf - q->base.no_mbuf,
		.flushes = q->count.flushes - q->base.flushes,
		.calls = q->count.calls - q->base.calls,
	};
}

int
pvhost_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	pthread_mutex_lock(&port->lock);
	for (unsigned int i = 0; i < port->args.pairs; i++) {
		struct pvhost_counters rx = counted(&port->rx[i]);
		struct pvhost_counters tx = counted(&port->tx[i]);

		stats->ipackets += rx.packets;
		stats->ibytes += rx.bytes;
		stats->ierrors += rx.bad + rx.too_big;
		stats->rx_nombuf += rx.no_mbuf;
		stats->opackets += tx.packets;
		stats->obytes += tx.bytes;
		stats->oerrors += tx.bad + tx.too_big;
		if (i < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
			stats->q_ipackets[i] = rx.packets;
			stats->q_ibytes[i] = rx.bytes;
			stats->q_errors[i] = rx.bad + rx.too_big;
			stats->q_opackets[i] = tx.packets;
			stats->q_obytes[i] = tx.bytes;
		}
	}
	pthread_mutex_unlock(&port->lock);
	return 0;
}

int
pvhost_stats_reset(struct rte_eth_dev *eth_dev)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	pthread_mutex_lock(&port->lock);
	for (unsigned int i = 0; i < port->args.pairs; i++) {
		port->rx[i].base = port->rx[i].count;
		port->tx[i].base = port->tx[i].count;
	}
	pthread_mutex_unlock(&port->lock);
	return 0;
}

/* What a queue counts beyond the basic statistics, as rx_q0_NAME and tx_q0_NAME. */
static const struct {
	const char *name;
	size_t offset;
} reasons[] = {
	{ "bad_buffers", offsetof(struct pvhost_counters, bad) },
	{ "too_big_packets", offsetof(struct pvhost_counters, too_big) },
	{ "no_mbuf_bursts", offsetof(struct pvhost_counters, no_mbuf) },
	{ "flushes", offsetof(struct pvhost_counters, flushes) },
	{ "calls", offsetof(struct pvhost_counters, calls) },
};

/* First all of the receive queues, then all of the transmit queues. */
static unsigned int
xstats_count(const struct pvhost_port *port)
{
	return 2 * port->args.pairs * RTE_DIM(reasons);
}

int
pvhost_xstats_get_names(
		struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	const struct pvhost_port *port = eth_dev->data->dev_private;
	unsigned int count = xstats_count(port);

	if (names == NULL || n < count)
		return count;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int queue = i / RTE_DIM(reasons);

		snprintf(names[i].name, sizeof(names[i].name), "%s_q%u_%s",
				queue < port->args.pairs ? "rx" : "tx", queue % port->args.pairs,
				reasons[i % RTE_DIM(reasons)].name);
	}
	return count;
}

int
pvhost_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct pvhost_port *port = eth_dev->data->dev_private;
	unsigned int count = xstats_count(port);

	if (xstats == NULL || n < count)
		return count;
	pthread_mutex_lock(&port->lock);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int queue = i / RTE_DIM(reasons), pairs = port->args.pairs;
		struct pvhost_counters c = counted(
				queue < pairs ? &port->rx[queue] : &port->tx[queue - pairs]);

		xstats[i].id = i;
		xstats[i].value =
				*(uint64_t *)RTE_PTR_ADD(&c, reasons[i % RTE_DIM(reasons)].offset);
	}
	pthread_mutex_unlock(&port->lock);
	return count;
}
