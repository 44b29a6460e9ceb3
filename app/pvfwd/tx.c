/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <rte_cycles.h>

#include "signals.h"
#include "tx.h"

/* The port accepted the first n of those held. */
static void
accepted(struct pvfwd_stream *s, uint16_t n)
{
	uint64_t left = 0;
	uint16_t i;

	if (n == 0)
		return;
	s->first_held += n;
	s->nb_held -= n;
	for (i = 0; i < s->nb_held; i++)
		left += s->pkts[s->first_held + i]->pkt_len;
	pvfwd_add(&s->count.tx_packets, n);
	pvfwd_add(&s->count.tx_bytes, s->held_bytes - left);
	s->held_bytes = left;
}

static void
free_held(struct pvfwd_stream *s, uint64_t *counter)
{
	rte_pktmbuf_free_bulk(&s->pkts[s->first_held], s->nb_held);
	pvfwd_add(counter, s->nb_held);
	s->nb_held = 0;
}

uint16_t
pvfwd_tx_again(struct pvfwd_stream *s)
{
	uint16_t sent;

	if (pvfwd.cfg.tx_delay_us > 0)
		rte_delay_us_block(pvfwd.cfg.tx_delay_us);
	pvfwd_add(&s->count.retries, 1);
	sent = rte_eth_tx_burst(s->tx_port, s->tx_queue, &s->pkts[s->first_held], s->nb_held);
	accepted(s, sent);
	return sent;
}

uint16_t
pvfwd_tx_partly(struct pvfwd_stream *s, uint16_t sent)
{
	int64_t tries = pvfwd.cfg.tx_retry_num;

	accepted(s, sent);
	if (tries == PVFWD_AUTO)
		return sent;
	for (; tries > 0 && s->nb_held > 0; tries--) {
		if (pvfwd_stopping())
			return sent;
		sent += pvfwd_tx_again(s);
	}
	free_held(s, &s->count.dropped);
	return sent;
}

void
pvfwd_tx_release(struct pvfwd_stream *s)
{
	free_held(s, &s->count.held);
}
