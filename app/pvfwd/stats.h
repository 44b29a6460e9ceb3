/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * Sums over streams and lcores, and the text made of them.
 */

#ifndef PVFWD_STATS_H
#define PVFWD_STATS_H

#include "pvfwd.h"
#include "verify.h"

struct pvfwd_totals {
	uint64_t ns;                                  /**< CLOCK_MONOTONIC, when gathered */
	struct pvfwd_counters all;                    /**< the sum over the ports */
	struct pvfwd_counters port[RTE_MAX_ETHPORTS]; /**< by port number */
	struct pvfwd_verify_counts verify;
};

/** Now, by CLOCK_MONOTONIC. */
uint64_t pvfwd_now_ns(void);

void pvfwd_stats_gather(struct pvfwd_totals *t);

/** The packets this mode is measured by: received ones in rxonly, else those transmitted. */
uint64_t pvfwd_stats_packets(const struct pvfwd_totals *t);

/** Packets per microsecond; 0 when no time has passed. */
double pvfwd_stats_mpps(uint64_t packets, uint64_t ns);

/** From the first packet that moved to the last. */
uint64_t pvfwd_stats_active_ns(const struct pvfwd_totals *t);

/** Sum up the lcores' latencies; in TSC cycles. */
void pvfwd_stats_latency(struct pvfwd_latency *sum);

uint64_t pvfwd_stats_cycles_to_ns(uint64_t cycles);

/** One line per port: the rates between two moments. */
void pvfwd_stats_print_rates(const struct pvfwd_totals *from, const struct pvfwd_totals *to);

/** The final table. */
void pvfwd_stats_print_table(const struct pvfwd_totals *t);

#endif
