/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVHOST_H
#define PVHOST_H

/**
 * @file
 * The driver's own structures: a port, its queues, and how a data thread enters one.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include <pvq_packed_dev.h>
#include <pvq_split_dev.h>
#include <pvu.h>

#define PVHOST_MAX_PAIRS (PVU_MAX_RINGS / 2)

/** Buffers that the burst functions handle in one pass over their arrays. */
#define PVHOST_PASS 32

/** Longest frame in either direction: the largest MTU with its Ethernet header and VLAN tags. */
#define PVHOST_MAX_MTU UINT16_MAX
#define PVHOST_MAX_FRAME (PVHOST_MAX_MTU + RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

struct rte_eth_dev;
struct rte_eth_stats;
struct rte_eth_xstat;
struct rte_eth_xstat_name;
struct rte_eth_rxq_info;
struct rte_eth_txq_info;
struct rte_eth_burst_mode;

extern int pvhost_logtype;
#define PVHOST_LOG(level, fmt, ...)                                                                \
	rte_log(RTE_LOG_##level, pvhost_logtype, "pvhost: " fmt "\n", ##__VA_ARGS__)

/** Counters of one queue; only its data thread writes them. */
struct pvhost_counters {
	uint64_t packets;
	uint64_t bytes;
	uint64_t bad;     /**< buffers with a broken chain, address or length: packet lost */
	uint64_t too_big; /**< packets larger than the receiver can take: packet lost */
	uint64_t no_mbuf; /**< bursts cut short because the mempool was empty: nothing lost */
	uint64_t flushes; /**< bursts that gave buffers back */
	uint64_t calls;   /**< of these, those that the driver was told of */
};

/** One queue of a port, and the ring that it serves. */
struct pvhost_queue {
	/* What every burst reads. */
	bool busy;    /**< a data thread is inside: written by it alone */
	bool enabled; /**< it may enter: written under the port's lock */
	bool split;   /**< the ring's format */
	bool mergeable;
	bool scatter;
	uint8_t hdr_len;
	int call_fd;
	struct rte_mempool *pool; /**< Rx: where packets are received into */
	uint32_t room;            /**< Rx: data bytes of an mbuf of the pool */
	uint64_t rearm;           /**< Rx: what is copied to pvhost_mbuf_rearm() of a new mbuf */
	union {
		struct pvq_packed_dev packed;
		struct pvq_split_dev split;
	} ring;
	struct pvq_mem_cache lookup; /**< of packets' memory; the ring has its own, for tables */
	struct pvq_segs segs;
	struct pvhost_counters count;
	struct pvq_mem mem; /**< a copy: not even a stuck thread may see the next frontend's */
	struct pvq_mem_region regions[PVU_MAX_REGIONS];

	/* The port's lock guards the rest. */
	struct pvhost_counters base; /**< what stats_reset() subtracts */
	bool setup;                  /**< the application has set the queue up */
	bool present;                /**< the frontend has started the ring */
	bool stuck;                  /**< a data thread was still inside when the ring went */
} __rte_cache_aligned;

/** What the devargs say. */
struct pvhost_args {
	char iface[108]; /**< sun_path's size */
	bool client;
	bool packed; /**< offer packed rings, beside split ones */
	unsigned int pairs;
};

struct pvhost_port {
	uint16_t port_id;
	struct pvhost_args args;
	struct pvu_dev *dev;
	pthread_mutex_t lock; /**< taken inside the loop's lock, never the other way round */
	bool started;         /**< between dev_start and dev_stop */
	bool lsc;             /**< the application wants to hear of the link */
	uint64_t features;    /**< acknowledged by the driver */
	uint16_t told_mtu;    /**< by the frontend; 0: never */
	unsigned int nregions;
	struct pvq_mem_region regions[PVU_MAX_REGIONS]; /**< the frontend's memory */
	struct pvhost_queue *rx; /**< args.pairs of them: rings 1, 3, 5 … */
	struct pvhost_queue *tx; /**< args.pairs of them: rings 0, 2, 4 … */
};

/** Where the eight bytes of an mbuf are that hold data_off, refcnt, nb_segs and port. They are
 *  copied by memcpy(), as one word: other code reads the fields by their own types.
 */
static inline void *
pvhost_mbuf_rearm(struct rte_mbuf *m)
{
	return RTE_PTR_ADD(m, offsetof(struct rte_mbuf, rearm_data));
}

/** Parse a device's arguments. A bad one is named in the log. @return 0 or a negative errno. */
int pvhost_args_parse(struct pvhost_args *args, const char *params);

/** Begin to serve the port's socket. */
int pvhost_ctrl_open(struct pvhost_port *port);

/** Undo pvhost_ctrl_open(). */
void pvhost_ctrl_close(struct pvhost_port *port);

/** Let data threads into all queues that are ready, from now on. */
void pvhost_ctrl_start(struct pvhost_port *port);

/** Turn data threads away, and return when none is inside. */
int pvhost_ctrl_stop(struct pvhost_port *port);

uint16_t pvhost_rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n);
uint16_t pvhost_tx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n);

/** ethdev's operations of these names. */
int pvhost_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats);
int pvhost_stats_reset(struct rte_eth_dev *eth_dev);
int pvhost_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n);
int pvhost_xstats_get_names(
		struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names, unsigned int n);
uint32_t pvhost_rx_queue_count(void *queue);
int pvhost_rx_descriptor_status(void *queue, uint16_t offset);
int pvhost_tx_descriptor_status(void *queue, uint16_t offset);
void pvhost_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_rxq_info *info);
void pvhost_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_txq_info *info);
int pvhost_rx_burst_mode_get(
		struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_burst_mode *mode);
int pvhost_tx_burst_mode_get(
		struct rte_eth_dev *eth_dev, uint16_t id, struct rte_eth_burst_mode *mode);

/** Enter a queue to serve its ring, unless the control thread holds it.
 *
 *  A plain store and a load, no fence: the control thread clears *enabled*, then makes every
 *  running thread execute a barrier by membarrier(2), then looks at *busy*. So either it sees us
 *  busy and waits, or we see the queue disabled.
 */
static inline bool
pvhost_queue_enter(struct pvhost_queue *q)
{
	pvq_store(&q->busy, true);
	pvq_compiler_barrier();
	if (likely(pvq_load_acquire(&q->enabled)))
		return true;
	pvq_store_release(&q->busy, false);
	return false;
}

static inline void
pvhost_queue_leave(struct pvhost_queue *q)
{
	pvq_store_release(&q->busy, false);
}

/** Call the driver. */
void pvhost_queue_call(struct pvhost_queue *q);

#endif /* PVHOST_H */
