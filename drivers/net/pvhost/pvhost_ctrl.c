/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/*
 * From the vhost-user protocol's callbacks to queue state.
 *
 * Locks: a callback runs under the loop's lock and takes the port's. The ethdev operations take
 * the port's lock alone.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#include <linux/membarrier.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>

#include <ethdev_driver.h>
#include <rte_cycles.h>
#include <rte_lcore.h>

#include "pvhost.h"
#include "pvhost_hdr.h"

#ifndef VIRTIO_F_IN_ORDER
#define VIRTIO_F_IN_ORDER 35
#endif

/* Each is implemented here or, as everything behind CTRL_VQ, by the frontend. */
#define FEATURES_OFFERED                                                                           \
	(RTE_BIT64(VIRTIO_NET_F_MTU) | RTE_BIT64(VIRTIO_NET_F_MRG_RXBUF) |                         \
			RTE_BIT64(VIRTIO_NET_F_CTRL_VQ) | RTE_BIT64(VIRTIO_NET_F_CTRL_RX) |        \
			RTE_BIT64(VIRTIO_NET_F_MQ) | RTE_BIT64(VIRTIO_RING_F_INDIRECT_DESC) |      \
			RTE_BIT64(VIRTIO_RING_F_EVENT_IDX) | RTE_BIT64(VIRTIO_F_VERSION_1) |       \
			RTE_BIT64(VIRTIO_F_IN_ORDER))

/* A burst takes microseconds; only a thread that was stopped or killed inside one takes longer. */
#define QUIESCE_TIMEOUT_MS 2000

/* One that has taken longer before is not waited for again that long. */
#define STUCK_TIMEOUT_MS 20

/* All ports share one loop and its thread. */
static struct {
	pthread_mutex_t lock;
	unsigned int ports;
	struct pvu_loop *loop;
	pthread_t thread;
} control = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
queue_admit(struct pvhost_port *port, struct pvhost_queue *q)
{
	if (port->started && q->setup && q->present)
		pvq_store_release(&q->enabled, true);
}

/* Wait until no data thread is inside. It may look in and be turned away meanwhile. */
static int
queue_wait(struct pvhost_queue *q)
{
	unsigned int ms = q->stuck ? STUCK_TIMEOUT_MS : QUIESCE_TIMEOUT_MS;
	uint64_t give_up = rte_get_timer_cycles() + rte_get_timer_hz() / MS_PER_S * ms;

	q->stuck = true;
	while (pvq_load_acquire(&q->busy)) {
		if (rte_get_timer_cycles() > give_up)
			return -ETIMEDOUT;
		sched_yield();
	}
	q->stuck = false;
	return 0;
}

/* The other end of pvhost_queue_enter(). */
static int
queue_quiesce(struct pvhost_queue *q)
{
	if (!q->enabled)
		return q->stuck ? queue_wait(q) : 0;
	pvq_store(&q->enabled, false);
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0)
		return -errno;
	return queue_wait(q);
}

static void
queue_free(struct pvhost_queue *q)
{
	free(q->segs.seg);
	q->segs.seg = NULL;
	if (!q->split)
		pvq_packed_dev_fini(&q->ring.packed);
}

/* Rings are named from the driver's side: even ones it receives on. */
static struct pvhost_queue *
ring_queue(struct pvhost_port *port, unsigned int ring)
{
	return ring % 2 == 0 ? &port->tx[ring / 2] : &port->rx[ring / 2];
}

static void
on_features(void *owner, uint64_t features)
{
	struct pvhost_port *port = owner;

	pthread_mutex_lock(&port->lock);
	port->features = features;
	pthread_mutex_unlock(&port->lock);
}

static void
on_memory(void *owner, const struct pvu_region *regions, unsigned int count)
{
	struct pvhost_port *port = owner;

	pthread_mutex_lock(&port->lock);
	for (unsigned int i = 0; i < count; i++)
		port->regions[i] = (struct pvq_mem_region){
			.addr = regions[i].guest_addr,
			.size = regions[i].size,
			.host = regions[i].host,
		};
	port->nregions = count;
	pthread_mutex_unlock(&port->lock);
}

static int
packed_start(struct pvhost_port *port, struct pvhost_queue *q, const struct pvu_ring *ring)
{
	const struct pvq_packed_dev_conf conf = {
		.desc = ring->desc,
		.driver_event = ring->driver,
		.device_event = ring->device,
		.size = ring->size,
		.base = pvq_cursor_unpack(ring->base),
		.event_idx = port->features & RTE_BIT64(VIRTIO_RING_F_EVENT_IDX),
		.mem = &q->mem,
	};
	int ret = pvq_packed_dev_init(&q->ring.packed, &conf);

	if (ret == 0)
		pvq_packed_disable_kick(&q->ring.packed, NULL);
	return ret;
}

static int
split_start(struct pvhost_port *port, struct pvhost_queue *q, const struct pvu_ring *ring)
{
	const struct pvq_split_dev_conf conf = {
		.desc = ring->desc,
		.avail_ring = ring->driver,
		.used_ring = ring->device,
		.size = ring->size,
		.base = ring->base,
		.event_idx = port->features & RTE_BIT64(VIRTIO_RING_F_EVENT_IDX),
		.mem = &q->mem,
	};
	int ret = pvq_split_dev_init(&q->ring.split, &conf);

	if (ret == 0)
		pvq_split_disable_kick(&q->ring.split, NULL);
	return ret;
}

static int
queue_start(struct pvhost_port *port, struct pvhost_queue *q, const struct pvu_ring *ring)
{
	int ret;

	/* The thread that did not leave an earlier ring works on what is set up here. */
	ret = queue_quiesce(q);
	if (ret < 0)
		return ret;
	queue_free(q);
	memcpy(q->regions, port->regions, sizeof(q->regions));
	ret = pvq_mem_init(&q->mem, q->regions, port->nregions);
	if (ret < 0)
		return ret;
	pvq_mem_cache_init(&q->lookup, &q->mem);
	q->split = !(port->features & RTE_BIT64(VIRTIO_F_RING_PACKED));
	ret = q->split ? split_start(port, q, ring) : packed_start(port, q, ring);
	if (ret < 0)
		return ret;
	q->segs.cap = pvq_segs_cap(ring->size);
	q->segs.seg = calloc(q->segs.cap, sizeof(q->segs.seg[0]));
	if (q->segs.seg == NULL) {
		queue_free(q);
		return -ENOMEM;
	}
	q->call_fd = ring->call_fd;
	q->hdr_len = pvhost_hdr_len(port->features);
	q->mergeable = port->features & RTE_BIT64(VIRTIO_NET_F_MRG_RXBUF);
	q->present = true;
	queue_admit(port, q);
	return 0;
}

static int
on_ring_start(void *owner, unsigned int index, const struct pvu_ring *ring)
{
	struct pvhost_port *port = owner;
	int ret;

	pthread_mutex_lock(&port->lock);
	ret = queue_start(port, ring_queue(port, index), ring);
	pthread_mutex_unlock(&port->lock);
	return ret;
}

static int
on_ring_stop(void *owner, unsigned int index, uint16_t *base)
{
	struct pvhost_port *port = owner;
	struct pvhost_queue *q = ring_queue(port, index);
	int ret;

	pthread_mutex_lock(&port->lock);
	ret = queue_quiesce(q);
	q->present = false;
	*base = q->split ? q->ring.split.avail : pvq_cursor_pack(q->ring.packed.avail);
	if (ret == 0)
		queue_free(q);
	else
		PVHOST_LOG(ERR, "%s: a data thread does not leave ring %u: %s", port->args.iface,
				index, strerror(-ret));
	pthread_mutex_unlock(&port->lock);
	return ret;
}

static void
on_changed(void *owner, const struct pvu_info *info)
{
	struct pvhost_port *port = owner;
	struct rte_eth_dev *eth_dev = &rte_eth_devices[port->port_id];
	struct rte_eth_link link = {
		.link_speed = RTE_ETH_SPEED_NUM_10G,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_status = info->rings_running > 0 ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN,
	};
	struct rte_eth_link old;
	bool lsc;

	/* What the application sets later stays. */
	if (info->mtu != 0 && info->mtu != port->told_mtu)
		eth_dev->data->mtu = info->mtu;
	port->told_mtu = info->mtu;
	rte_eth_linkstatus_get(eth_dev, &old);
	if (old.link_status == link.link_status)
		return;
	rte_eth_linkstatus_set(eth_dev, &link);
	PVHOST_LOG(INFO, "%s: link %s", port->args.iface,
			link.link_status == RTE_ETH_LINK_UP ? "up" : "down");
	pthread_mutex_lock(&port->lock);
	lsc = port->lsc;
	pthread_mutex_unlock(&port->lock);
	if (lsc)
		rte_eth_dev_callback_process(eth_dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

static void
on_log(void *owner, enum pvu_log_level level, const char *line)
{
	static const uint32_t rte_level[] = {
		[PVU_LOG_ERR] = RTE_LOG_ERR,
		[PVU_LOG_WARNING] = RTE_LOG_WARNING,
		[PVU_LOG_INFO] = RTE_LOG_INFO,
		[PVU_LOG_DEBUG] = RTE_LOG_DEBUG,
	};
	struct pvhost_port *port = owner;

	rte_log(rte_level[level], pvhost_logtype, "pvhost: %s: %s\n", port->args.iface, line);
}

static const struct pvu_ops ops = {
	.set_features = on_features,
	.set_memory = on_memory,
	.ring_start = on_ring_start,
	.ring_stop = on_ring_stop,
	.changed = on_changed,
	.log = on_log,
};

void
pvhost_queue_call(struct pvhost_queue *q)
{
	pvu_notify(control.loop, q->call_fd);
}

static void *
control_thread(void *loop)
{
	pvu_loop_run(loop);
	return NULL;
}

/* The first port makes the loop and its thread. */
static int
control_get(void)
{
	int ret = 0;

	pthread_mutex_lock(&control.lock);
	if (control.ports == 0) {
		if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0) {
			ret = -errno;
			PVHOST_LOG(ERR, "the kernel has no membarrier(2): %s", strerror(-ret));
			goto out;
		}
		control.loop = pvu_loop_create();
		if (control.loop == NULL) {
			ret = -errno;
			goto out;
		}
		ret = rte_ctrl_thread_create(
				&control.thread, "pvhost-ctrl", NULL, control_thread, control.loop);
		if (ret != 0) {
			pvu_loop_destroy(control.loop);
			goto out;
		}
	}
	control.ports++;
out:
	pthread_mutex_unlock(&control.lock);
	return ret;
}

static void
control_put(void)
{
	pthread_mutex_lock(&control.lock);
	if (--control.ports == 0) {
		pvu_loop_stop(control.loop);
		pthread_join(control.thread, NULL);
		pvu_loop_destroy(control.loop);
	}
	pthread_mutex_unlock(&control.lock);
}

int
pvhost_ctrl_open(struct pvhost_port *port)
{
	const struct virtio_net_config config = {
		.max_virtqueue_pairs = port->args.pairs,
		.mtu = PVHOST_MAX_MTU,
	};
	const struct pvu_params params = {
		.path = port->args.iface,
		.client = port->args.client,
		.nrings = 2 * port->args.pairs,
		.features = FEATURES_OFFERED |
			    (port->args.packed ? RTE_BIT64(VIRTIO_F_RING_PACKED) : 0),
		.config = &config,
		.config_len = sizeof(config),
		.ops = &ops,
		.owner = port,
	};
	int ret;

	ret = control_get();
	if (ret != 0)
		return ret;
	ret = pvu_dev_create(control.loop, &params, &port->dev);
	if (ret < 0)
		control_put();
	return ret;
}

void
pvhost_ctrl_close(struct pvhost_port *port)
{
	pvu_dev_destroy(port->dev);
	control_put();
}

void
pvhost_ctrl_start(struct pvhost_port *port)
{
	pthread_mutex_lock(&port->lock);
	port->started = true;
	for (unsigned int i = 0; i < port->args.pairs; i++) {
		queue_admit(port, &port->rx[i]);
		queue_admit(port, &port->tx[i]);
	}
	pthread_mutex_unlock(&port->lock);
}

int
pvhost_ctrl_stop(struct pvhost_port *port)
{
	int ret = 0;

	pthread_mutex_lock(&port->lock);
	port->started = false;
	for (unsigned int i = 0; i < port->args.pairs && ret == 0; i++) {
		ret = queue_quiesce(&port->rx[i]);
		if (ret == 0)
			ret = queue_quiesce(&port->tx[i]);
	}
	pthread_mutex_unlock(&port->lock);
	return ret;
}
