/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_MEM_H
#define PVQ_MEM_H

/**
 * @file
 * Driver address to host address, through a table of regions and a last-hit cache.
 *
 * A region's addresses never wrap and regions do not overlap: pvq_mem_init() sees to it, so that
 * the checks here cannot be fooled by an address or a length near 2^64.
 */

#include <stddef.h>
#include <stdint.h>

/** One region of driver memory that this process has mapped. */
struct pvq_mem_region {
	uint64_t addr; /**< first driver address */
	uint64_t size; /**< bytes, not 0 */
	uint8_t *host; /**< where @p addr is mapped */
};

/** A table of regions; read-only while any queue uses it. */
struct pvq_mem {
	const struct pvq_mem_region *regions;
	unsigned int nregions;
};

/** One queue's view of a table. */
struct pvq_mem_cache {
	const struct pvq_mem *mem;
	struct pvq_mem_region last; /**< the region last hit; size 0: none yet */
};

/** Check the @p n regions and make a table of them.
 *  @return 0, or -EINVAL for an empty, wrapping or overlapping region.
 */
int pvq_mem_init(struct pvq_mem *mem, const struct pvq_mem_region *regions, unsigned int n);

/** Begin to look addresses up in @p mem; forgets the last hit. */
static inline void
pvq_mem_cache_init(struct pvq_mem_cache *cache, const struct pvq_mem *mem)
{
	*cache = (struct pvq_mem_cache){ .mem = mem };
}

/** As pvq_mem_at(), by the table; remembers the region. */
void *pvq_mem_find(struct pvq_mem_cache *cache, uint64_t addr, uint64_t *len);

/** Translate @p addr.
 *  @param len in: bytes wanted; out: bytes that lie in one piece there, at most those wanted,
 *         and at least 1 unless 0 were wanted
 *  @return the host address, or NULL when @p addr is in no region, also for 0 bytes
 */
static inline void *
pvq_mem_at(struct pvq_mem_cache *cache, uint64_t addr, uint64_t *len)
{
	uint64_t off = addr - cache->last.addr;

	if (__builtin_expect(off >= cache->last.size, 0))
		return pvq_mem_find(cache, addr, len);
	if (*len > cache->last.size - off)
		*len = cache->last.size - off;
	return cache->last.host + off;
}

/** Translate @p len bytes at @p addr that must lie in one piece.
 *  @return the host address, or NULL: then take it piece by piece through pvq_mem_at().
 */
static inline void *
pvq_mem_whole(struct pvq_mem_cache *cache, uint64_t addr, uint64_t len)
{
	uint64_t have = len;
	void *host = pvq_mem_at(cache, addr, &have);

	return have == len ? host : NULL;
}

/** Copy @p len bytes from driver memory. @return 0, or -EFAULT: some of it is in no region. */
int pvq_mem_read(struct pvq_mem_cache *cache, uint64_t addr, void *dst, uint64_t len);

#endif /* PVQ_MEM_H */
