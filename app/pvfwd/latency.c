/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "latency.h"

uint64_t
pvfwd_latency_upper(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * PVFWD_LAT_SUB)
		return bucket;
	shift = bucket / PVFWD_LAT_SUB - 1;
	return ((UINT64_C(1) + bucket - shift * PVFWD_LAT_SUB) << shift) - 1;
}

void
pvfwd_latency_note(struct pvfwd_latency *l, uint64_t value)
{
	uint64_t *b = &l->bucket[pvfwd_latency_bucket(value)];

	__atomic_store_n(b, *b + 1, __ATOMIC_RELAXED);
	if (unlikely(value > l->max))
		__atomic_store_n(&l->max, value, __ATOMIC_RELAXED);
}

void
pvfwd_latency_merge(struct pvfwd_latency *sum, const struct pvfwd_latency *src)
{
	uint64_t max = __atomic_load_n(&src->max, __ATOMIC_RELAXED);
	unsigned int i;

	for (i = 0; i < PVFWD_LAT_BUCKETS; i++)
		sum->bucket[i] += __atomic_load_n(&src->bucket[i], __ATOMIC_RELAXED);
	sum->max = RTE_MAX(sum->max, max);
}

uint64_t
pvfwd_latency_quantile(const struct pvfwd_latency *l, unsigned int permille)
{
	uint64_t total = 0, below = 0;
	unsigned int i;

	for (i = 0; i < PVFWD_LAT_BUCKETS; i++)
		total += l->bucket[i];
	for (i = 0; i < PVFWD_LAT_BUCKETS; i++) {
		below += l->bucket[i];
		if (below > 0 && below * 1000 >= total * permille)
			return RTE_MIN(pvfwd_latency_upper(i), l->max);
	}
	return 0;
}
