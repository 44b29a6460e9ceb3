/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * What every part of pvfwd shares: the configuration, the streams, the lcores and the engines.
 *
 * A stream is one receive queue, one transmit queue, or both. Each stream belongs to exactly one
 * lcore, which alone writes it. The control thread only reads the counters.
 */

#ifndef PVFWD_H
#define PVFWD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "packet.h"

#define PVFWD_MAX_BURST 512
#define PVFWD_MAX_SEGS 255
#define PVFWD_MAX_ATTACH 16
/** Ethernet header, CRC: what a frame has beyond the MTU, as testpmd counts it. */
#define PVFWD_L2_OVERHEAD 18
#define PVFWD_AUTO (-1)

/** Exit statuses: a clean stop is 0. */
enum {
	PVFWD_EXIT_RUNTIME = 1,
	PVFWD_EXIT_USAGE = 2,
};

struct pvfwd_stream;

/** One way of forwarding. */
struct pvfwd_engine {
	const char *name;
	bool rx; /**< its streams receive */
	bool tx; /**< its streams transmit */
	/** Move one burst; returns the number of packets received plus those accepted for Tx. */
	uint16_t (*burst)(struct pvfwd_stream *s);
};

/** The parsed command line. Numbers are 64-bit so that one table of options sets them all. */
struct pvfwd_config {
	const struct pvfwd_engine *engine;
	int64_t burst;
	int64_t nb_cores;
	int64_t rxq, txq;
	int64_t rxd, txd;        /**< PVFWD_AUTO: the port's own default */
	int64_t stats_period;    /**< seconds; 0: none */
	int64_t total_num_mbufs; /**< PVFWD_AUTO: as many as needed */
	int64_t mbuf_size;       /**< bytes, headroom included */
	int64_t max_pkt_len;     /**< bytes; PVFWD_AUTO: what the ports take by default */
	int64_t tx_retry_num;    /**< PVFWD_AUTO: hold what was not sent, for ever */
	int64_t tx_delay_us;     /**< before each retry */
	int64_t packets;         /**< txonly stops after so many; 0: no limit */
	int64_t duration;        /**< txonly stops after so many seconds; 0: no limit */
	int64_t tx_first;        /**< bursts sent into each stream before forwarding */
	int64_t report_fd;       /**< -1: none */
	bool multi_flow;
	uint16_t seg_len[PVFWD_MAX_SEGS];
	uint16_t nb_segs;
	uint32_t pkt_len; /**< the sum of seg_len */
	const char *attach[PVFWD_MAX_ATTACH];
	uint16_t nb_attach;
};

/** What a stream has done so far. Written by its lcore, read by the control thread. */
struct pvfwd_counters {
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes; /**< accepted by the port */
	uint64_t dropped;              /**< given up by us because the port was full */
	uint64_t held;                 /**< freed unsent when forwarding stopped */
	uint64_t retries;              /**< Tx bursts that offered the same packets again */
	uint64_t cycles;               /**< TSC cycles of the rounds that moved a packet */
	uint64_t first_tsc, last_tsc;  /**< when a packet moved; 0: never */
};

struct pvfwd_verify;

struct pvfwd_stream {
	uint16_t rx_port, rx_queue;
	uint16_t tx_port, tx_queue;
	uint16_t burst;
	uint16_t nb_held;    /**< packets received or made, not yet accepted by the Tx port */
	uint16_t first_held; /**< where they begin in pkts */
	bool done;           /**< a limited sender has sent all */
	uint64_t held_bytes;
	struct rte_mempool *pool;
	struct pvfwd_verify *verify; /**< rxonly: its lcore's */
	struct rte_ether_addr mac_src, mac_dst;

	/* The packet maker: txonly and --tx-first. */
	uint64_t next;       /**< number of the next packet to make */
	uint64_t limit;      /**< first number not to be made */
	uint16_t first_flow; /**< packet n is of flow first_flow + (n & flow_mask) */
	uint16_t flow_mask;
	uint8_t flow_shift; /**< and has sequence number n >> flow_shift in it */
	uint16_t session;   /**< tells this run's sequence numbers from an earlier run's */
	struct pvfwd_head head;

	struct pvfwd_counters count;
	struct rte_mbuf *pkts[PVFWD_MAX_BURST];
} __rte_cache_aligned;

/** A forwarding lcore and its streams. */
struct pvfwd_lcore {
	unsigned int id;
	uint16_t nb_streams;
	struct pvfwd_stream **streams;
	struct pvfwd_verify *verify; /**< rxonly only */
};

/** The whole instance. */
struct pvfwd {
	struct pvfwd_config cfg;
	struct rte_mempool *pool;
	uint16_t nb_ports;
	uint16_t ports[RTE_MAX_ETHPORTS]; /**< in the order they were set up */
	uint16_t nb_streams;
	struct pvfwd_stream **streams;
	uint16_t nb_lcores;
	struct pvfwd_lcore *lcores;
	bool stop_sending; /**< the duration is over: senders make no more packets */
};

extern struct pvfwd pvfwd;

/** Add to a counter that another thread may be reading. */
static inline void
pvfwd_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/** Read a counter that another thread may be writing. */
static inline uint64_t
pvfwd_get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/** Print one line to stderr, "pvfwd: " before it. */
void pvfwd_error(const char *fmt, ...) __rte_format_printf(1, 2);

#endif
