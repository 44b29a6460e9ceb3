/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "engine.h"
#include "make.h"
#include "tx.h"

static uint16_t
txonly_burst(struct pvfwd_stream *s)
{
	uint64_t dropped = s->count.dropped;
	uint16_t sent;

	if (unlikely(__atomic_load_n(&pvfwd.stop_sending, __ATOMIC_RELAXED))) {
		pvfwd_tx_release(s);
		s->limit = s->next;
	}
	if (unlikely(s->nb_held > 0))
		return pvfwd_tx_again(s);
	if (unlikely(s->next == s->limit)) {
		__atomic_store_n(&s->done, true, __ATOMIC_RELAXED);
		return 0;
	}
	if (unlikely(!pvfwd_make(s, RTE_MIN(s->burst, s->limit - s->next))))
		return 0;
	sent = pvfwd_tx(s);
	/* A dropped packet was never sent: its number goes to the next one, not to "lost". */
	s->next -= s->count.dropped - dropped;
	return sent;
}

const struct pvfwd_engine pvfwd_engine_txonly = {
	.name = "txonly",
	.tx = true,
	.burst = txonly_burst,
};
