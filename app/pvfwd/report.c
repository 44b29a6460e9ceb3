/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "report.h"
#include "stats.h"

static struct {
	uint64_t start_ns;
	uint64_t last_ns;
	uint64_t last_packets;
} report;

static double
mpps(bool final, const struct pvfwd_totals *t)
{
	uint64_t packets = pvfwd_stats_packets(t);
	double rate;

	if (final)
		return pvfwd_stats_mpps(packets, pvfwd_stats_active_ns(t));
	rate = pvfwd_stats_mpps(packets - report.last_packets, t->ns - report.last_ns);
	report.last_packets = packets;
	report.last_ns = t->ns;
	return rate;
}

static void
add_verify(FILE *f, const struct pvfwd_verify_counts *v)
{
	struct pvfwd_latency lat;

	fprintf(f,
			",\"verify\":{\"received\":%" PRIu64 ",\"verified\":%" PRIu64
			",\"foreign\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"duplicated\":%" PRIu64
			",\"reordered\":%" PRIu64 ",\"corrupted\":%" PRIu64 "}",
			v->received, v->verified, v->foreign, v->lost, v->duplicated, v->reordered,
			v->corrupted);
	pvfwd_stats_latency(&lat);
	fprintf(f,
			",\"latency_ns\":{\"p50\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64
			",\"max\":%" PRIu64 "}",
			pvfwd_stats_cycles_to_ns(pvfwd_latency_quantile(&lat, 500)),
			pvfwd_stats_cycles_to_ns(pvfwd_latency_quantile(&lat, 990)),
			pvfwd_stats_cycles_to_ns(pvfwd_latency_quantile(&lat, 999)),
			pvfwd_stats_cycles_to_ns(lat.max));
}

static void
add_totals(FILE *f, const char *event, const struct pvfwd_totals *t)
{
	fprintf(f,
			"{\"event\":\"%s\",\"mode\":\"%s\",\"time_ms\":%" PRIu64 ",\"hugepages\":%s"
			",\"rx_packets\":%" PRIu64 ",\"rx_bytes\":%" PRIu64
			",\"tx_packets\":%" PRIu64 ",\"tx_bytes\":%" PRIu64 ",\"dropped\":%" PRIu64
			",\"held\":%" PRIu64 ",\"retries\":%" PRIu64 ",\"cycles\":%" PRIu64
			",\"tsc_hz\":%" PRIu64 ",\"mpps\":%.6f",
			event, pvfwd.cfg.engine->name, (t->ns - report.start_ns) / 1000000,
			rte_eal_has_hugepages() ? "true" : "false", t->all.rx_packets,
			t->all.rx_bytes, t->all.tx_packets, t->all.tx_bytes, t->all.dropped,
			t->all.held, t->all.retries, t->all.cycles, rte_get_tsc_hz(),
			mpps(strcmp(event, "final") == 0, t));
}

void
pvfwd_report(const char *event, const struct pvfwd_totals *t)
{
	char line[2048];
	FILE *f;
	struct pollfd pfd = { .fd = pvfwd.cfg.report_fd, .events = POLLOUT };
	bool periodic = strcmp(event, "period") == 0;

	if (pfd.fd < 0)
		return;
	if (report.start_ns == 0)
		report.start_ns = report.last_ns = t->ns;
	if (poll(&pfd, 1, periodic ? 0 : 1000) <= 0)
		return;
	f = fmemopen(line, sizeof(line), "w");
	if (f == NULL)
		return;
	add_totals(f, event, t);
	if (!pvfwd.cfg.engine->tx)
		add_verify(f, &t->verify);
	fprintf(f, "}\n");
	fclose(f);
	/* shorter than PIPE_BUF, so in one piece; a reader that has gone is no reason to stop */
	if (write(pfd.fd, line, strlen(line)) < 0)
		pvfwd.cfg.report_fd = -1;
}
