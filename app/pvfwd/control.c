/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdio.h>

#include <rte_cycles.h>

#include "control.h"
#include "report.h"
#include "signals.h"
#include "stats.h"

#define NS_PER_MS UINT64_C(1000000)
/* How soon the end of a limited sender is seen. */
#define TICK_NS (50 * NS_PER_MS)
#define REPORT_NS (250 * NS_PER_MS)
/* How long a port may take nothing before we say so. */
#define STALL_NS (UINT64_C(5) * NS_PER_S)

/* Something to do every so often. */
struct timer {
	uint64_t period; /* 0: never */
	uint64_t due;
};

static bool
expired(struct timer *timer, uint64_t now)
{
	if (timer->period == 0 || now < timer->due)
		return false;
	/* after a pause, go on from now: what was missed is not made up for */
	timer->due = RTE_MAX(timer->due + timer->period, now);
	return true;
}

static bool
all_done(void)
{
	uint16_t i;

	for (i = 0; i < pvfwd.nb_streams; i++)
		if (!__atomic_load_n(&pvfwd.streams[i]->done, __ATOMIC_RELAXED))
			return false;
	return true;
}

/* Back-pressure loses nothing, so a port that takes nothing at all would never show. */
static void
warn_stalled(const struct pvfwd_totals *now)
{
	static struct {
		uint64_t since; /* when it last took a packet, or had none to take */
		uint64_t tx_packets, dropped, retries;
		bool warned;
	} state[RTE_MAX_ETHPORTS];
	uint16_t i;

	for (i = 0; i < pvfwd.nb_ports; i++) {
		uint16_t port = pvfwd.ports[i];
		const struct pvfwd_counters *c = &now->port[port];

		if (c->retries == state[port].retries || c->tx_packets != state[port].tx_packets ||
				c->dropped != state[port].dropped) {
			state[port].since = now->ns;
			state[port].warned = false;
		} else if (now->ns - state[port].since >= STALL_NS && !state[port].warned) {
			pvfwd_error("port %u has taken no packet for 5 s; they are held", port);
			state[port].warned = true;
		}
		state[port].tx_packets = c->tx_packets;
		state[port].dropped = c->dropped;
		state[port].retries = c->retries;
	}
}

/* End the sending when its time is over; say so, once, when it has ended. */
static void
watch_sender(struct pvfwd_totals *now, uint64_t deadline, bool *done)
{
	if (*done)
		return;
	if (now->ns >= deadline)
		__atomic_store_n(&pvfwd.stop_sending, true, __ATOMIC_RELAXED);
	if (!all_done())
		return;
	*done = true;
	pvfwd_stats_gather(now);
	pvfwd_report("done", now);
	printf("%" PRIu64 " packets sent; idle until stopped\n", now->all.tx_packets);
}

void *
pvfwd_control(void *arg)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	static struct pvfwd_totals now, shown; /* large, and there is one thread */
	bool done = cfg->packets == 0 && cfg->duration == 0;
	uint64_t deadline = UINT64_MAX;
	struct timer tick = { .period = TICK_NS }, period = { .period = REPORT_NS };
	struct timer rates = { .period = cfg->stats_period * NS_PER_S };

	RTE_SET_USED(arg);
	pvfwd_stats_gather(&now);
	pvfwd_report("start", &now);
	shown = now;
	tick.due = now.ns + tick.period;
	period.due = now.ns + period.period;
	rates.due = now.ns + rates.period;
	if (cfg->duration > 0)
		deadline = now.ns + cfg->duration * NS_PER_S;

	while (pvfwd_sleep_until(tick.due), !pvfwd_stopping()) {
		pvfwd_stats_gather(&now);
		expired(&tick, now.ns);
		watch_sender(&now, deadline, &done);
		if (expired(&period, now.ns)) {
			pvfwd_report("period", &now);
			warn_stalled(&now);
		}
		if (expired(&rates, now.ns)) {
			pvfwd_stats_print_rates(&shown, &now);
			shown = now;
		}
	}
	return NULL;
}
