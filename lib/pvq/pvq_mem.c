/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "pvq_mem.h"

static bool
regions_overlap(const struct pvq_mem_region *a, const struct pvq_mem_region *b)
{
	return a->addr < b->addr ? b->addr - a->addr < a->size : a->addr - b->addr < b->size;
}

int
pvq_mem_init(struct pvq_mem *mem, const struct pvq_mem_region *regions, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		/* Up to 2^64 itself is too far: address 0 would follow the last byte. */
		if (regions[i].size == 0 || regions[i].size > UINT64_MAX - regions[i].addr)
			return -EINVAL;
		for (unsigned int j = 0; j < i; j++)
			if (regions_overlap(&regions[i], &regions[j]))
				return -EINVAL;
	}
	*mem = (struct pvq_mem){ .regions = regions, .nregions = n };
	return 0;
}

void *
pvq_mem_find(struct pvq_mem_cache *cache, uint64_t addr, uint64_t *len)
{
	const struct pvq_mem *mem = cache->mem;

	for (unsigned int i = 0; i < mem->nregions; i++) {
		const struct pvq_mem_region *r = &mem->regions[i];

		if (addr - r->addr < r->size) {
			cache->last = *r;
			return pvq_mem_at(cache, addr, len);
		}
	}
	return NULL;
}

int
pvq_mem_read(struct pvq_mem_cache *cache, uint64_t addr, void *dst, uint64_t len)
{
	uint8_t *to = dst;

	while (len > 0) {
		uint64_t part = len;
		const void *from = pvq_mem_at(cache, addr, &part);

		if (from == NULL)
			return -EFAULT;
		memcpy(to, from, part);
		to += part;
		addr += part;
		len -= part;
	}
	return 0;
}
