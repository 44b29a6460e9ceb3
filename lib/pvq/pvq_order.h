/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_ORDER_H
#define PVQ_ORDER_H

/**
 * @file
 * Every access to shared ring memory and every barrier goes through this file.
 *
 * | barrier | device side                        | driver side                         |
 * |---------|------------------------------------|-------------------------------------|
 * | A       | acquire on the head's flags, or on | release of the head's flags, or of  |
 * |         | the available index                | the available index                 |
 * | B       | write barrier before used words,   | acquire on the used flags, or on    |
 * |         | or release of the used index       | the used index                      |
 * | C       | full fence between what was used   | full fence between arming our event |
 * |         | and reading the driver's event     | and re-checking the ring            |
 * | D       | full fence between arming our own  | full fence between what was made    |
 * |         | event and re-checking the ring     | available and reading the device's  |
 *
 * Without A a body is read before it was written; without B payload, id or length is stale under
 * a used flag or index; without C a call is lost; without D a kick is lost.
 *
 * The stores and barriers of the publishing paths are macros, so that a test build can define
 * them first and record them. ThreadSanitizer knows release stores and acquire loads but no fences:
 * there, what follows a write barrier is published by release stores, and every load acquires.
 */

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "virtqueues are little-endian");

/* gcc says it by a macro, clang by a feature. */
#if defined(__SANITIZE_THREAD__)
#define PVQ_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PVQ_TSAN
#endif
#endif

/** Read a word; nothing later is read before it. */
#define pvq_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

/** Read a word that the other side may write, once. */
#ifdef PVQ_TSAN
#define pvq_load(p) pvq_load_acquire(p)
#else
#define pvq_load(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#endif

/** Write a word that the other side may read, whole. */
#define pvq_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/** Write two 4-byte words that lie side by side, in one store of 8 bytes. Only 4-byte alignment is
 *  needed, so the other side may see the one without the other.
 */
#define pvq_store_pair(p, low, high)                                                               \
	memcpy((p), &(uint64_t){ (uint32_t)(low) | (uint64_t)(high) << 32 }, sizeof(uint64_t))

/** Write a word; nothing earlier is seen after it. */
#define pvq_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/** What was loaded before is not read again or later than what is loaded after. */
#define pvq_read_barrier() atomic_thread_fence(memory_order_acquire)

/** Nothing stored before is seen after what is stored after. */
#define pvq_write_barrier() atomic_thread_fence(memory_order_release)

/** Stores before are seen before loads after are done. */
#define pvq_full_fence() atomic_thread_fence(memory_order_seq_cst)

/** The compiler moves nothing across; a processor may, unless the other side fences for us. */
#define pvq_compiler_barrier() atomic_signal_fence(memory_order_seq_cst)

/** Write one word of a batch that a write barrier precedes. */
#ifdef PVQ_TSAN
#define pvq_publish(p, v) pvq_store_release(p, v)
#else
#define pvq_publish(p, v) pvq_store(p, v)
#endif

#endif /* PVQ_ORDER_H */
