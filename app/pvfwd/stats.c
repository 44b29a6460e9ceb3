/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "stats.h"

uint64_t
pvfwd_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void
add_activity(struct pvfwd_counters *sum, uint64_t first, uint64_t last)
{
	if (first != 0 && (sum->first_tsc == 0 || first < sum->first_tsc))
		sum->first_tsc = first;
	sum->last_tsc = RTE_MAX(sum->last_tsc, last);
}

static void
add_rx(struct pvfwd_counters *sum, const struct pvfwd_counters *c)
{
	sum->rx_packets += pvfwd_get(&c->rx_packets);
	sum->rx_bytes += pvfwd_get(&c->rx_bytes);
}

static void
add_tx(struct pvfwd_counters *sum, const struct pvfwd_counters *c)
{
	sum->tx_packets += pvfwd_get(&c->tx_packets);
	sum->tx_bytes += pvfwd_get(&c->tx_bytes);
	sum->dropped += pvfwd_get(&c->dropped);
	sum->held += pvfwd_get(&c->held);
	sum->retries += pvfwd_get(&c->retries);
}

static void
add_verify(struct pvfwd_verify_counts *sum, const struct pvfwd_verify_counts *c)
{
	sum->received += pvfwd_get(&c->received);
	sum->verified += pvfwd_get(&c->verified);
	sum->corrupted += pvfwd_get(&c->corrupted);
	sum->foreign += pvfwd_get(&c->foreign);
	sum->lost += pvfwd_get(&c->lost);
	sum->duplicated += pvfwd_get(&c->duplicated);
	sum->reordered += pvfwd_get(&c->reordered);
}

void
pvfwd_stats_gather(struct pvfwd_totals *t)
{
	uint16_t i;

	memset(t, 0, sizeof(*t));
	t->ns = pvfwd_now_ns();
	for (i = 0; i < pvfwd.nb_streams; i++) {
		const struct pvfwd_stream *s = pvfwd.streams[i];

		add_rx(&t->port[s->rx_port], &s->count);
		add_tx(&t->port[s->tx_port], &s->count);
		t->all.cycles += pvfwd_get(&s->count.cycles);
		add_activity(&t->all, pvfwd_get(&s->count.first_tsc),
				pvfwd_get(&s->count.last_tsc));
	}
	for (i = 0; i < pvfwd.nb_ports; i++) {
		add_rx(&t->all, &t->port[pvfwd.ports[i]]);
		add_tx(&t->all, &t->port[pvfwd.ports[i]]);
	}
	for (i = 0; i < pvfwd.nb_lcores; i++)
		if (pvfwd.lcores[i].verify != NULL)
			add_verify(&t->verify, &pvfwd.lcores[i].verify->count);
}

uint64_t
pvfwd_stats_packets(const struct pvfwd_totals *t)
{
	return pvfwd.cfg.engine->tx ? t->all.tx_packets : t->all.rx_packets;
}

double
pvfwd_stats_mpps(uint64_t packets, uint64_t ns)
{
	return ns == 0 ? 0 : packets * 1e3 / ns;
}

uint64_t
pvfwd_stats_cycles_to_ns(uint64_t cycles)
{
	return cycles * (1e9 / rte_get_tsc_hz());
}

uint64_t
pvfwd_stats_active_ns(const struct pvfwd_totals *t)
{
	/* a packet may move between the reading of the two */
	if (t->all.last_tsc < t->all.first_tsc)
		return 0;
	return pvfwd_stats_cycles_to_ns(t->all.last_tsc - t->all.first_tsc);
}

void
pvfwd_stats_latency(struct pvfwd_latency *sum)
{
	uint16_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < pvfwd.nb_lcores; i++)
		if (pvfwd.lcores[i].verify != NULL)
			pvfwd_latency_merge(sum, &pvfwd.lcores[i].verify->latency);
}
