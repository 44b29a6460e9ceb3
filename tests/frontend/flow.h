/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef FLOW_H
#define FLOW_H

/**
 * @file
 * Random packets in random shapes both ways between a frontend and its port, each compared with
 * what it was. The number of a packet alone determines its length and bytes.
 */

#include <pthread.h>

#include "fixture.h"

#define FLOW_BURST 32

/** What the packets and buffers look like. */
struct flow_conf {
	uint32_t min_len, max_len; /**< of a packet */
	uint32_t min_room, max_room; /**< of a buffer posted; without MRG, enough for max_len */
	unsigned int max_segs;	   /**< of a buffer and of an mbuf chain */
	bool indirect;		   /**< one buffer in two */
	uint16_t burst;		   /**< most packets at a time */
};

struct flow {
	struct fe *fe;
	const struct fx_port *port;
	struct flow_conf conf;
	uint64_t seed;
	uint64_t offered, received;  /**< by the driver, by the application */
	uint64_t accepted, arrived;  /**< from the application, at the driver */
	struct rte_mbuf *held[FLOW_BURST]; /**< refused by a full ring */
	uint16_t nheld;
	uint8_t pkt[FX_MAX_PKT], got[FX_MAX_PKT];
};

void flow_init(struct flow *flow, struct fe *fe, const struct fx_port *port,
		const struct flow_conf *conf);
/** The driver offers some packets, the application receives. @return packets received */
unsigned int flow_receive(struct flow *flow);
/** The driver posts some buffers, the application sends. @return packets that arrived */
unsigned int flow_send(struct flow *flow);
/** Let all arrive that is on the way, use up the buffers posted, free what is held.
 *  @return whether all of it arrived
 */
bool flow_settle(struct flow *flow);

/** A thread that keeps a flow going. */
struct flow_thread {
	struct flow flow;
	pthread_t thread;
	bool stop;
	uint64_t packets;
	uint64_t longest_ms; /**< between two packets */
};
void flow_thread_start(struct flow_thread *ft, struct fe *fe, const struct fx_port *port,
		const struct flow_conf *conf);
/** Go on where it was stopped. */
void flow_thread_resume(struct flow_thread *ft);
/** Wait until @p n packets more have passed, ten seconds at most. @return whether they did */
bool flow_thread_moves(struct flow_thread *ft, uint64_t n);
/** Stop it, without settling the flow. @return whether no pause was longer than @p max_ms */
bool flow_thread_stop(struct flow_thread *ft, uint64_t max_ms);

#endif /* FLOW_H */
