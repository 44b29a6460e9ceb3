/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * Checking received packets: every byte, the order in each flow, the time they took.
 */

#ifndef PVFWD_VERIFY_H
#define PVFWD_VERIFY_H

#include <stdint.h>

#include "latency.h"

struct rte_mbuf;
struct pvfwd_flow;

struct pvfwd_verify_counts {
	uint64_t received;   /**< with a stamp's magic number */
	uint64_t verified;   /**< of these, as they were made, to the last byte */
	uint64_t corrupted;  /**< of these, the others */
	uint64_t foreign;    /**< without it */
	uint64_t lost;       /**< numbers below the highest seen of their flow that never came */
	uint64_t duplicated; /**< came again */
	uint64_t reordered;  /**< came after a higher number */
};

/** The state of one lcore. A flow must keep to the queues of one lcore. */
struct pvfwd_verify {
	struct pvfwd_verify_counts count;
	struct pvfwd_latency latency; /**< TSC cycles from making to checking */
	struct pvfwd_flow *flows[UINT16_MAX + 1];
};

/** NULL when out of memory. */
struct pvfwd_verify *pvfwd_verify_create(void);

void pvfwd_verify_destroy(struct pvfwd_verify *v);

/** Check n packets that arrived at TSC now; returns their bytes. Frees nothing. */
uint64_t pvfwd_verify_burst(
		struct pvfwd_verify *v, struct rte_mbuf **pkts, uint16_t n, uint64_t now);

#endif
