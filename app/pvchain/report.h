/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>

/** What a line of pvfwd's --report-fd is about. */
enum report_event {
	REPORT_NONE,  /**< no line came yet */
	REPORT_START, /**< forwarding begins */
	REPORT_PERIOD,
	REPORT_DONE, /**< a limited sender has sent all */
	REPORT_FINAL,
};

/** A line. Counters run from the start; times are in ms, latencies in ns. */
struct report {
	enum report_event event;
	uint64_t time_ms;
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t dropped;
	uint64_t retries;
	uint64_t cycles; /**< TSC cycles of the bursts that moved a packet */
	uint64_t tsc_hz;
	double mpps; /**< of the last period; in the final line of the whole active time */
	struct {
		uint64_t received;
		uint64_t verified;
		uint64_t foreign;
		uint64_t lost;
		uint64_t duplicated;
		uint64_t reordered;
		uint64_t corrupted;
	} verify; /**< of a receiver, otherwise 0 */
	struct {
		uint64_t p50;
		uint64_t p99;
		uint64_t p999;
		uint64_t max;
	} latency;
};

/** Read one line. Returns 0, or -1 (and leaves *report alone) when it is not such a line. */
int report_parse(const char *line, struct report *report);

#endif /* REPORT_H */
