/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * Transmitting what a stream holds.
 *
 * An engine puts packets into pkts, sets nb_held, first_held and held_bytes, and calls
 * pvfwd_tx(). What the port does not accept stays held, in order, and is offered again in the
 * next round; nothing new may be received or made meanwhile. With --burst-tx-retry-num or
 * --drop-when-full nothing stays held: the rest is dropped and counted.
 */

#ifndef PVFWD_TX_H
#define PVFWD_TX_H

#include "pvfwd.h"

/** The rest of pvfwd_tx(), when the port accepted fewer than offered. */
uint16_t pvfwd_tx_partly(struct pvfwd_stream *s, uint16_t sent);

/** Offer held packets of an earlier round again; returns the number accepted. */
uint16_t pvfwd_tx_again(struct pvfwd_stream *s);

/** Free the packets still held, as unsent: forwarding ends. */
void pvfwd_tx_release(struct pvfwd_stream *s);

/** Offer freshly filled packets; returns the number accepted. */
static inline uint16_t
pvfwd_tx(struct pvfwd_stream *s)
{
	uint16_t sent;

	sent = rte_eth_tx_burst(s->tx_port, s->tx_queue, &s->pkts[s->first_held], s->nb_held);
	if (unlikely(sent < s->nb_held))
		return pvfwd_tx_partly(s, sent);
	pvfwd_add(&s->count.tx_packets, sent);
	pvfwd_add(&s->count.tx_bytes, s->held_bytes);
	s->nb_held = 0;
	return sent;
}

/**
 * Receive a burst into the empty pkts, to be forwarded; returns its size. Counts the packets, so
 * it touches each mbuf once, which the engine's own work would do anyway.
 */
static inline uint16_t
pvfwd_rx(struct pvfwd_stream *s)
{
	uint16_t n = rte_eth_rx_burst(s->rx_port, s->rx_queue, s->pkts, s->burst);
	uint64_t bytes = 0;
	uint16_t i;

	if (n == 0)
		return 0;
	for (i = 0; i < n; i++)
		bytes += s->pkts[i]->pkt_len;
	pvfwd_add(&s->count.rx_packets, n);
	pvfwd_add(&s->count.rx_bytes, bytes);
	s->nb_held = n;
	s->first_held = 0;
	s->held_bytes = bytes;
	return n;
}

#endif
