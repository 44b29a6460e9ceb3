/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <string.h>

#include <jansson.h>

#include "report.h"

static enum report_event
event_named(const char *name)
{
	static const char *const names[] = {
		[REPORT_START] = "start",
		[REPORT_PERIOD] = "period",
		[REPORT_DONE] = "done",
		[REPORT_FINAL] = "final",
	};

	for (unsigned int i = REPORT_START; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return REPORT_NONE;
}

static int
unpack(json_t *json, struct report *r)
{
	json_int_t time_ms, rx_packets, rx_bytes, tx_packets, tx_bytes, dropped, retries, cycles;
	json_int_t tsc_hz, received = 0, verified = 0, foreign = 0, lost = 0, duplicated = 0;
	json_int_t reordered = 0, corrupted = 0, p50 = 0, p99 = 0, p999 = 0, max = 0;
	const char *event;
	double mpps;

	if (json_unpack(json, "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:F}", "event",
			    &event, "time_ms", &time_ms, "rx_packets", &rx_packets, "rx_bytes",
			    &rx_bytes, "tx_packets", &tx_packets, "tx_bytes", &tx_bytes, "dropped",
			    &dropped, "retries", &retries, "cycles", &cycles, "tsc_hz", &tsc_hz,
			    "mpps", &mpps) != 0)
		return -1;
	if (json_unpack(json, "{s?{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s?{s:I, s:I, s:I, s:I}}",
			    "verify", "received", &received, "verified", &verified, "foreign",
			    &foreign, "lost", &lost, "duplicated", &duplicated, "reordered",
			    &reordered, "corrupted", &corrupted, "latency_ns", "p50", &p50, "p99",
			    &p99, "p999", &p999, "max", &max) != 0)
		return -1;

	*r = (struct report){
		.event = event_named(event),
		.time_ms = time_ms,
		.rx_packets = rx_packets,
		.rx_bytes = rx_bytes,
		.tx_packets = tx_packets,
		.tx_bytes = tx_bytes,
		.dropped = dropped,
		.retries = retries,
		.cycles = cycles,
		.tsc_hz = tsc_hz,
		.mpps = mpps,
		.verify = { received, verified, foreign, lost, duplicated, reordered, corrupted },
		.latency = { p50, p99, p999, max },
	};
	return 0;
}

int
report_parse(const char *line, struct report *report)
{
	json_t *json = json_loads(line, 0, NULL);
	struct report r = { .event = REPORT_NONE };
	int ret;

	if (json == NULL)
		return -1;
	ret = unpack(json, &r);
	json_decref(json);
	if (ret != 0 || r.event == REPORT_NONE)
		return -1;
	*report = r;
	return 0;
}
