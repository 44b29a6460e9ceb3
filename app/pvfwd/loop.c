/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <sched.h>

#include <rte_cycles.h>

#include "loop.h"
#include "make.h"
#include "pvfwd.h"
#include "signals.h"
#include "tx.h"

/*
 * Rounds without a packet before the core is offered to others. A peer that shares the core can
 * do nothing for us until it runs. Where nobody does, the offer costs about a microsecond, which
 * is what these rounds take.
 */
#define IDLE_ROUNDS 8

struct round {
	uint64_t tsc; /* when the current stream's turn began */
	unsigned int idle;
};

static inline void
note_moved(struct pvfwd_counters *count, uint64_t from, uint64_t to)
{
	pvfwd_add(&count->cycles, to - from);
	if (unlikely(count->first_tsc == 0))
		__atomic_store_n(&count->first_tsc, from, __ATOMIC_RELAXED);
	__atomic_store_n(&count->last_tsc, to, __ATOMIC_RELAXED);
}

static inline void
run_round(struct pvfwd_lcore *lc, uint16_t (*burst)(struct pvfwd_stream *), struct round *r)
{
	bool moved = false;
	uint64_t now;
	uint16_t i;

	for (i = 0; i < lc->nb_streams; i++) {
		struct pvfwd_stream *s = lc->streams[i];
		uint16_t n = burst(s);

		now = rte_rdtsc();
		if (n > 0) {
			note_moved(&s->count, r->tsc, now);
			moved = true;
		}
		r->tsc = now;
	}
	if (likely(moved)) {
		r->idle = 0;
	} else if (++r->idle > IDLE_ROUNDS) {
		sched_yield();
		r->tsc = rte_rdtsc();
	}
}

/* Feed the streams of a loop that has no sender; forwarding goes on meanwhile. */
static void
tx_first(struct pvfwd_lcore *lc, uint16_t (*burst)(struct pvfwd_stream *), struct round *r)
{
	int64_t i;
	uint16_t j;

	for (i = 0; i < pvfwd.cfg.tx_first; i++) {
		for (j = 0; j < lc->nb_streams; j++) {
			struct pvfwd_stream *s = lc->streams[j];

			while (s->nb_held > 0 && !pvfwd_stopping())
				run_round(lc, burst, r);
			if (s->nb_held == 0 && pvfwd_make(s, s->burst))
				pvfwd_tx(s);
		}
	}
}

int
pvfwd_loop(void *arg)
{
	struct pvfwd_lcore *lc = arg;
	uint16_t (*burst)(struct pvfwd_stream *) = pvfwd.cfg.engine->burst;
	struct round r = { .tsc = rte_rdtsc() };
	uint16_t i;

	tx_first(lc, burst, &r);
	while (!pvfwd_stopping())
		run_round(lc, burst, &r);
	for (i = 0; i < lc->nb_streams; i++)
		pvfwd_tx_release(lc->streams[i]);
	return 0;
}
