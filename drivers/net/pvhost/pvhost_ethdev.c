/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <string.h>

#include <bus_vdev_driver.h>
#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_malloc.h>

#include "pvhost.h"

RTE_LOG_REGISTER(pvhost_logtype, pmd.net.pvhost, NOTICE);

static int
dev_configure(struct rte_eth_dev *eth_dev)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	pthread_mutex_lock(&port->lock);
	port->lsc = eth_dev->data->dev_conf.intr_conf.lsc;
	pthread_mutex_unlock(&port->lock);
	return 0;
}

/* Applications look at this before they poll a queue. */
static void
set_queue_states(struct rte_eth_dev_data *data, uint8_t state)
{
	memset(data->rx_queue_state, state, data->nb_rx_queues);
	memset(data->tx_queue_state, state, data->nb_tx_queues);
}

static int
dev_start(struct rte_eth_dev *eth_dev)
{
	pvhost_ctrl_start(eth_dev->data->dev_private);
	set_queue_states(eth_dev->data, RTE_ETH_QUEUE_STATE_STARTED);
	return 0;
}

static int
dev_stop(struct rte_eth_dev *eth_dev)
{
	eth_dev->data->dev_started = 0;
	set_queue_states(eth_dev->data, RTE_ETH_QUEUE_STATE_STOPPED);
	return pvhost_ctrl_stop(eth_dev->data->dev_private);
}

/* Free what probing allocated; the ethdev layer frees dev_private and the MAC address. */
static void
port_fini(struct pvhost_port *port)
{
	rte_free(port->rx);
	rte_free(port->tx);
	pthread_mutex_destroy(&port->lock);
}

static int
dev_close(struct rte_eth_dev *eth_dev)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	pvhost_ctrl_stop(port);
	pvhost_ctrl_close(port);
	port_fini(port);
	return 0;
}

static int
dev_infos_get(struct rte_eth_dev *eth_dev, struct rte_eth_dev_info *info)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	info->max_mac_addrs = 1;
	info->max_rx_pktlen = PVHOST_MAX_FRAME;
	info->max_mtu = PVHOST_MAX_MTU;
	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_rx_queues = port->args.pairs;
	info->max_tx_queues = port->args.pairs;
	info->min_rx_bufsize = 64;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER;
	info->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return 0;
}

/* Under the port's lock a queue is set up or released; the ring may be there already. */
static void
queue_set(struct pvhost_port *port, struct pvhost_queue *q, bool setup)
{
	pthread_mutex_lock(&port->lock);
	q->setup = setup;
	pthread_mutex_unlock(&port->lock);
}

/* The ring's size is the frontend's choice: nb_desc says nothing here. */
static int
rx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t id, uint16_t nb_desc __rte_unused,
		unsigned int socket_id __rte_unused, const struct rte_eth_rxconf *conf,
		struct rte_mempool *pool)
{
	struct pvhost_port *port = eth_dev->data->dev_private;
	struct pvhost_queue *q = &port->rx[id];
	uint64_t offloads = conf->offloads | eth_dev->data->dev_conf.rxmode.offloads;

	q->pool = pool;
	q->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	q->scatter = offloads & RTE_ETH_RX_OFFLOAD_SCATTER;
	queue_set(port, q, true);
	eth_dev->data->rx_queues[id] = q;
	return 0;
}

static int
tx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t id, uint16_t nb_desc __rte_unused,
		unsigned int socket_id __rte_unused, const struct rte_eth_txconf *conf __rte_unused)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	queue_set(port, &port->tx[id], true);
	eth_dev->data->tx_queues[id] = &port->tx[id];
	return 0;
}

static void
rx_queue_release(struct rte_eth_dev *eth_dev, uint16_t id)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	queue_set(port, &port->rx[id], false);
}

static void
tx_queue_release(struct rte_eth_dev *eth_dev, uint16_t id)
{
	struct pvhost_port *port = eth_dev->data->dev_private;

	queue_set(port, &port->tx[id], false);
}

/* The link follows the frontend by itself; see pvhost_ctrl.c. */
static int
link_update(struct rte_eth_dev *eth_dev __rte_unused, int wait __rte_unused)
{
	return 0;
}

/* Frames of any length up to the largest are taken whatever the MTU is. */
static int
mtu_set(struct rte_eth_dev *eth_dev __rte_unused, uint16_t mtu __rte_unused)
{
	return 0;
}

/* There is no filter: everything the driver sends is received. */
static int
accept_mode(struct rte_eth_dev *eth_dev __rte_unused)
{
	return 0;
}

static int
mac_addr_set(struct rte_eth_dev *eth_dev __rte_unused, struct rte_ether_addr *mac __rte_unused)
{
	return 0;
}

static const struct eth_dev_ops dev_ops = {
	.dev_configure = dev_configure,
	.dev_start = dev_start,
	.dev_stop = dev_stop,
	.dev_close = dev_close,
	.dev_infos_get = dev_infos_get,
	.rx_queue_setup = rx_queue_setup,
	.tx_queue_setup = tx_queue_setup,
	.rx_queue_release = rx_queue_release,
	.tx_queue_release = tx_queue_release,
	.link_update = link_update,
	.mtu_set = mtu_set,
	.mac_addr_set = mac_addr_set,
	.promiscuous_enable = accept_mode,
	.promiscuous_disable = accept_mode,
	.allmulticast_enable = accept_mode,
	.allmulticast_disable = accept_mode,
	.stats_get = pvhost_stats_get,
	.stats_reset = pvhost_stats_reset,
	.xstats_get = pvhost_xstats_get,
	.xstats_get_names = pvhost_xstats_get_names,
	.rxq_info_get = pvhost_rxq_info_get,
	.txq_info_get = pvhost_txq_info_get,
	.rx_burst_mode_get = pvhost_rx_burst_mode_get,
	.tx_burst_mode_get = pvhost_tx_burst_mode_get,
};

static uint64_t
new_mbuf_rearm(uint16_t port_id)
{
	struct rte_mbuf m = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = port_id };
	uint64_t rearm;

	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&rearm, pvhost_mbuf_rearm(&m), sizeof(rearm));
	return rearm;
}

static int
port_init(struct pvhost_port *port, const struct pvhost_args *args, uint16_t port_id, int socket)
{
	size_t size = args->pairs * sizeof(struct pvhost_queue);

	port->args = *args;
	port->port_id = port_id;
	pthread_mutex_init(&port->lock, NULL);
	port->rx = rte_zmalloc_socket("pvhost rx", size, RTE_CACHE_LINE_SIZE, socket);
	port->tx = rte_zmalloc_socket("pvhost tx", size, RTE_CACHE_LINE_SIZE, socket);
	if (port->rx == NULL || port->tx == NULL) {
		port_fini(port);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < args->pairs; i++)
		port->rx[i].rearm = new_mbuf_rearm(port_id);
	return 0;
}

/* A locally administered address that tells ports of one process apart. */
static struct rte_ether_addr *
mac_create(uint16_t port_id, int socket)
{
	struct rte_ether_addr *mac = rte_zmalloc_socket("pvhost mac", sizeof(*mac), 0, socket);

	if (mac != NULL)
		*mac = (struct rte_ether_addr){
			{ 0x56, 'P', 'V', 'H', port_id >> 8, port_id & 0xff },
		};
	return mac;
}

static int
eth_dev_init(struct rte_eth_dev *eth_dev, const struct pvhost_args *args, int socket)
{
	struct pvhost_port *port = eth_dev->data->dev_private;
	int ret;

	ret = port_init(port, args, eth_dev->data->port_id, socket);
	if (ret < 0)
		return ret;
	eth_dev->data->mac_addrs = mac_create(eth_dev->data->port_id, socket);
	if (eth_dev->data->mac_addrs == NULL) {
		port_fini(port);
		return -ENOMEM;
	}
	eth_dev->data->dev_flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	eth_dev->data->dev_link.link_speed = RTE_ETH_SPEED_NUM_10G;
	eth_dev->data->dev_link.link_duplex = RTE_ETH_LINK_FULL_DUPLEX;
	eth_dev->data->promiscuous = 1;
	eth_dev->data->all_multicast = 1;
	eth_dev->dev_ops = &dev_ops;
	eth_dev->rx_queue_count = pvhost_rx_queue_count;
	eth_dev->rx_descriptor_status = pvhost_rx_descriptor_status;
	eth_dev->tx_descriptor_status = pvhost_tx_descriptor_status;
	eth_dev->rx_pkt_burst = pvhost_rx_burst;
	eth_dev->tx_pkt_burst = pvhost_tx_burst;
	/* From here on the control thread may call back. */
	ret = pvhost_ctrl_open(port);
	if (ret < 0)
		port_fini(port);
	return ret;
}

static int
probe(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *eth_dev;
	struct pvhost_args args;
	int socket, ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		PVHOST_LOG(ERR, "%s: secondary processes are not supported", name);
		return -ENOTSUP;
	}
	ret = pvhost_args_parse(&args, rte_vdev_device_args(vdev));
	if (ret < 0)
		return ret;
	if (vdev->device.numa_node == SOCKET_ID_ANY)
		vdev->device.numa_node = rte_socket_id();
	socket = vdev->device.numa_node;
	eth_dev = rte_eth_vdev_allocate(vdev, sizeof(struct pvhost_port));
	if (eth_dev == NULL)
		return -ENOMEM;
	ret = eth_dev_init(eth_dev, &args, socket);
	if (ret < 0) {
		rte_eth_dev_release_port(eth_dev);
		return ret;
	}
	rte_eth_dev_probing_finish(eth_dev);
	return 0;
}

static int
remove_vdev(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *eth_dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	if (eth_dev == NULL)
		return 0;
	dev_close(eth_dev);
	return rte_eth_dev_release_port(eth_dev);
}

static struct rte_vdev_driver pvhost_driver = {
	.probe = probe,
	.remove = remove_vdev,
};

RTE_PMD_REGISTER_VDEV(net_pvhost, pvhost_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_pvhost, "iface=<path> "
					  "queues=<1-128> "
					  "client=<0|1> "
					  "packed=<0|1>");
