/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

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
