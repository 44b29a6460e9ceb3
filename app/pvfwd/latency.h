/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * A histogram with log-linear buckets: 32 to each power of two, so a value is known to 3 %.
 */

#ifndef PVFWD_LATENCY_H
#define PVFWD_LATENCY_H

#include <stdint.h>

#define PVFWD_LAT_SUB_BITS 5
#define PVFWD_LAT_SUB (1 << PVFWD_LAT_SUB_BITS)
#define PVFWD_LAT_BUCKETS ((64 - PVFWD_LAT_SUB_BITS + 1) * PVFWD_LAT_SUB)

struct pvfwd_latency {
	uint64_t max;
	uint64_t bucket[PVFWD_LAT_BUCKETS];
};

/** Values below 32 have a bucket each; above, the five bits below the top one choose. */
static inline unsigned int
pvfwd_latency_bucket(uint64_t value)
{
	unsigned int shift;

	if (value < PVFWD_LAT_SUB)
		return value;
	shift = 63 - PVFWD_LAT_SUB_BITS - __builtin_clzll(value);
	return shift * PVFWD_LAT_SUB + (value >> shift);
}

/** The largest value that falls into the bucket. */
uint64_t pvfwd_latency_upper(unsigned int bucket);

/** Record one value. One thread writes; another may read meanwhile. */
void pvfwd_latency_note(struct pvfwd_latency *l, uint64_t value);

/** Add what src has recorded to sum, which no other thread uses. */
void pvfwd_latency_merge(struct pvfwd_latency *sum, const struct pvfwd_latency *src);

/**
 * The value that permille of 1000 recorded values do not exceed, to the bucket's precision and
 * never above the maximum; 0 if nothing was recorded.
 */
uint64_t pvfwd_latency_quantile(const struct pvfwd_latency *l, unsigned int permille);

#endif
