/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_ORDER_H
#define PVQ_ORDER_H

/**
 * @file
 * Stands in for lib/pvq/pvq_order.h: every access to shared memory and every barrier is done, and
 * recorded while recording is on. The build of the explorer includes it before all else.
 */

#include <stdbool.h>
#include <stdint.h>

enum record_kind {
	RECORD_STORE,
	RECORD_LOAD,
	RECORD_READ_BARRIER,
	RECORD_WRITE_BARRIER,
	RECORD_FULL_FENCE,
};

/** Store the low @p size bytes of @p value. */
void record_store(void *at, uint64_t value, uint8_t size, bool release);

/** Note a load that has been done. */
void record_load(const void *at, uint8_t size, bool acquire);

void record_barrier(enum record_kind kind);

#define RECORD_LOAD(p, acquire)                                                                    \
	({                                                                                         \
		__typeof__(*(p)) value_ = __atomic_load_n((p), __ATOMIC_RELAXED);                  \
		record_load((p), sizeof(*(p)), acquire);                                           \
		value_;                                                                            \
	})

#define pvq_load(p) RECORD_LOAD(p, false)
#define pvq_load_acquire(p) RECORD_LOAD(p, true)
#define pvq_store(p, v) record_store((p), (v), sizeof(*(p)), false)
#define pvq_store_pair(p, low, high)                                                               \
	({                                                                                         \
		record_store((p), (low), 4, false);                                                \
		record_store((uint8_t *)(p) + 4, (high), 4, false);                                \
	})
#define pvq_store_release(p, v) record_store((p), (v), sizeof(*(p)), true)
#define pvq_publish(p, v) pvq_store(p, v)
#define pvq_read_barrier() record_barrier(RECORD_READ_BARRIER)
#define pvq_write_barrier() record_barrier(RECORD_WRITE_BARRIER)
#define pvq_full_fence() record_barrier(RECORD_FULL_FENCE)
#define pvq_compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#endif /* PVQ_ORDER_H */
