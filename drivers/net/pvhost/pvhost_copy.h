/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVHOST_COPY_H
#define PVHOST_COPY_H

/**
 * @file
 * Bytes between a buffer's segments and private memory. A segment may begin in one mapping and end
 * in the next, and a header may be cut anywhere: a position walks both.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_memcpy.h>

#include <pvq_mem.h>
#include <pvq_packed.h>

/* Up to here copying inline beats a call. */
#define PVHOST_COPY_INLINE 128

/** memcpy() that is inline for small frames; libc's own knows this processor's best for others. */
static inline void
pvhost_copy(void *dst, const void *src, uint32_t len)
{
	if (len <= PVHOST_COPY_INLINE)
		rte_memcpy(dst, src, len);
	else
		memcpy(dst, src, len);
}

/* Fetch a cache line to write it. On x86 rte_prefetch0_write() only fetches it to be read unless
 * the compiler is told of PREFETCHW, which every x86-64 takes: those that lack it do nothing.
 */
#ifdef RTE_ARCH_X86
#define PVHOST_PREFETCH_WRITE(p) asm volatile("prefetchw %0" ::"m"(*(const volatile char *)(p)))
#else
#define PVHOST_PREFETCH_WRITE(p) __builtin_prefetch((p), 1, 3)
#endif

/** Fetch the ends of a buffer that is about to be written; what lies between follows by itself. */
static inline void
pvhost_prefetch_write(const uint8_t *dst, uint32_t len)
{
	PVHOST_PREFETCH_WRITE(dst);
	PVHOST_PREFETCH_WRITE(dst + len - 1);
}

/** A place in a list of segments. */
struct pvhost_pos {
	struct pvq_mem_cache *mem;
	const struct pvq_seg *seg;
	const struct pvq_seg *end;
	uint32_t off; /**< bytes of *seg already passed */
};

/** Move on by the next piece, at most *@p len bytes; *@p len becomes its length.
 *  @return its host address; NULL at the end of the list or outside memory.
 */
static inline uint8_t *
pvhost_pos_next(struct pvhost_pos *pos, uint32_t *len)
{
	uint64_t part;
	uint8_t *host;

	while (pos->seg < pos->end && pos->off == pos->seg->len) {
		pos->seg++;
		pos->off = 0;
	}
	if (pos->seg == pos->end)
		return NULL;
	part = RTE_MIN(*len, pos->seg->len - pos->off);
	host = pvq_mem_at(pos->mem, pos->seg->addr + pos->off, &part);
	*len = part;
	pos->off += part;
	return host;
}

/** Pass over @p len bytes without looking at them. */
static inline int
pvhost_pos_skip(struct pvhost_pos *pos, uint32_t len)
{
	while (len > 0) {
		uint32_t part = len;

		if (pvhost_pos_next(pos, &part) == NULL)
			return -EFAULT;
		len -= part;
	}
	return 0;
}

/** Copy @p len bytes out of the segments. */
static inline int
pvhost_pos_read(struct pvhost_pos *pos, uint8_t *dst, uint32_t len)
{
	while (len > 0) {
		uint32_t part = len;
		const uint8_t *src = pvhost_pos_next(pos, &part);

		if (src == NULL)
			return -EFAULT;
		memcpy(dst, src, part);
		dst += part;
		len -= part;
	}
	return 0;
}

/** Copy @p len bytes into the segments. */
static inline int
pvhost_pos_write(struct pvhost_pos *pos, const uint8_t *src, uint32_t len)
{
	while (len > 0) {
		uint32_t part = len;
		uint8_t *dst = pvhost_pos_next(pos, &part);

		if (dst == NULL)
			return -EFAULT;
		memcpy(dst, src, part);
		src += part;
		len -= part;
	}
	return 0;
}

/** Bytes in the segments @p seg .. @p end, or -EINVAL when one may not be used in direction
 *  @p write, or when there are more than @p limit.
 */
static inline int64_t
pvhost_segs_len(const struct pvq_seg *seg, const struct pvq_seg *end, bool write, uint64_t limit)
{
	uint64_t len = 0;

	for (; seg < end; seg++) {
		if (seg->write != write)
			return -EINVAL;
		len += seg->len;
	}
	return len > limit ? -EINVAL : (int64_t)len;
}

#endif /* PVHOST_COPY_H */
