/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/*
 * What the application may ask of a queue: how full its ring is, and how it is served.
 */

#include <errno.h>
#include <stdio.h>

#include <ethdev_driver.h>

#include "pvhost.h"
#include "pvhost_ring.h"

/* Called by the thread that polls the queue, as its bursts are.
 * @return how much is available, or -ENOTCONN when no ring is served; @p size: of the ring
 */
static int
count_avail(struct pvhost_queue *q, uint16_t *size)
{
	int n;

	if (!pvhost_queue_enter(q))
		return -ENOTCONN;
	n = pvhost_ring_count_avail(q);
	*size = pvhost_ring_size(q);
	pvhost_queue_leave(q);
	return n;
}

uint32_t
pvhost_rx_queue_count(void *queue)
{
	uint16_t size;
	int n = count_avail(queue, &size);

	return n < 0 ? 0 : n;
}

/* What the driver has made available is a packet that has arrived. */
int
pvhost_rx_descriptor_status(void *queue, uint16_t offset)
{
	uint16_t size = 0;
	int n = count_avail(queue, &size);

	if (n < 0)
		return RTE_ETH_RX_DESC_UNAVAIL;
	if (offset >= size)
		return -EINVAL;
	return offset < n ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

/* What the driver has made available is room for a packet. */
int
pvhost_tx_descriptor_status(void *queue, uint16_t offset)
{
	uint16_t size = 0;
	int n = count_avail(queue, &size);

	if (n < 0)
		return RTE_ETH_TX_DESC_UNAVAIL;
	if (offset >= size)
		return -EINVAL;
	return offset < n ? RTE_ETH_TX_DESC_DONE : RTE_ETH_TX_DESC_FULL;
}

/* Under the port's lock the control thread changes nothing of a queue. */
static uint16_t
ring_size(struct pvhost_port *port, const struct pvhost_queue *q)
{
	uint16_t size;

	pthread_mutex_lock(&port->lock);
	size = q->present ? pvhost_ring_size(q) : 0;
	pthread_mutex_unlock(&port->lock);
	return size;
}

void
pvhost_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_rxq_info *info)
{
	struct pvhost_port *port = eth_dev->data->dev_private;
	const struct pvhost_queue *q = &port->rx[id];

	info->mp = q->pool;
	info->scattered_rx = q->scatter;
	info->nb_desc = ring_size(port, q);
}

void
pvhost_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_txq_info *info)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	info->nb_desc = ring_size(port, &port->tx[id]);
}

static int
burst_mode(struct pvhost_port *port, const struct pvhost_queue *q, bool tx,
		struct rte_eth_burst_mode *mode)
{
	pthread_mutex_lock(&port->lock);
	if (q->present)
		snprintf(mode->info, sizeof(mode->info), "%s ring%s%s",
				q->split ? "split" : "packed",
				tx && q->mergeable ? ", mergeable" : "",
				!tx && q->scatter ? ", scattered" : "");
	else
		snprintf(mode->info, sizeof(mode->info), "no ring");
	pthread_mutex_unlock(&port->lock);
	return 0;
}

int
pvhost_rx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_burst_mode *mode)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	return burst_mode(port, &port->rx[id], false, mode);
}

int
pvhost_tx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_burst_mode *mode)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	return burst_mode(port, &port->tx[id], true, mode);
}
