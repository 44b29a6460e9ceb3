/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef ACCESS_H
#define ACCESS_H

/**
 * @file
 * A split ring's device that looks at shared memory as often as the first ones did, each field by
 * itself and each through a translation of its address; and what became of it, step by step.
 */

#include "split.h"

/** What a device does; constants, so that what it does not do leaves no trace. */
struct access_step {
	bool used_cached;   /**< the used index is the device's own, never read */
	bool avail_cached;  /**< the driver's index is read when the last one known is used up */
	bool used_combined; /**< a used element is one store */
	bool mem_cached;    /**< the ring is translated once, buffers through the last hit */
	bool engine;        /**< all of that, and whole batches: the engine's own verbs */
	bool counted;       /**< count, instead of being timed */
};

enum {
	ACCESS_REGIONS = 4, /* the ring is in the last of them */
	ACCESS_BUFFER = 64, /* bytes; the first 8 are its number */
};

/** Driver addresses are host addresses and this. */
#define ACCESS_OFFSET (UINT64_C(1) << 56)

struct access {
	struct split *ring;
	uint8_t *buffers; /**< one for each entry of the ring */
	/* From here on the device's own: the driver's thread shall not share a line with it. */
	uint16_t next __attribute__((aligned(256))); /**< next entry to take */
	uint16_t known_avail;                        /**< the driver's index, as last read */
	uint16_t used;                               /**< the device's own index */
	struct pvq_mem_cache mem;
	struct pvq_mem_region regions[ACCESS_REGIONS];
	uint64_t accesses;     /**< counted: loads and stores of ring fields */
	uint64_t translations; /**< counted: walks of the region table */
};

static inline uint64_t
access_addr(const void *host)
{
	return (uintptr_t)host + ACCESS_OFFSET;
}

/** Where in the host a driver address is, by the table of regions. */
LOOPS_INLINE void *
access_walk(struct access *a, uint64_t addr, const struct access_step step)
{
	uint64_t len = 1;

	if (step.counted)
		a->translations++;
	return pvq_mem_find(&a->mem, addr, &len);
}

/** On the way to a ring's field that @p host would be the address of. */
LOOPS_INLINE void *
access_field(struct access *a, void *host, const struct access_step step)
{
	if (step.counted)
		a->accesses++;
	return step.mem_cached ? host : access_walk(a, access_addr(host), step);
}

#define ACCESS(a, step, field) ((__typeof__(&(field)))access_field((a), &(field), (step)))

/* Is there a buffer? The first devices asked twice: is it empty, and how many are there? */
LOOPS_INLINE bool
access_any(struct access *a, const struct access_step step)
{
	struct vring_avail *avail = a->ring->dev.avail_ring;

	if (step.avail_cached && a->known_avail != a->next)
		return true;
	a->known_avail = pvq_load_acquire(ACCESS(a, step, avail->idx));
	if (a->known_avail == a->next)
		return false;
	if (!step.avail_cached)
		a->known_avail = pvq_load_acquire(ACCESS(a, step, avail->idx));
	return true;
}

/* Take the next buffer, of which there is one; its flags were looked at for each question. */
LOOPS_INLINE uint16_t
access_take(struct access *a, uint64_t *addr, uint32_t *len, const struct access_step step)
{
	const uint16_t mask = a->ring->dev.size - 1;
	uint16_t *entry = &a->ring->dev.avail_ring->ring[a->next++ & mask];
	uint16_t head = pvq_load(ACCESS(a, step, *entry)) & mask;
	struct vring_desc *desc = &a->ring->dev.desc[head];
	uint16_t flags = pvq_load(ACCESS(a, step, desc->flags)) & PVQ_F_INDIRECT;

	flags |= pvq_load(ACCESS(a, step, desc->flags)) & PVQ_F_WRITE;
	*addr = pvq_load(ACCESS(a, step, desc->addr));
	*len = pvq_load(ACCESS(a, step, desc->len));
	flags |= pvq_load(ACCESS(a, step, desc->flags)) & PVQ_F_NEXT;
	return flags == 0 ? head : UINT16_MAX;
}

/* Write the used element and show it. */
LOOPS_INLINE void
access_give(struct access *a, uint16_t head, const struct access_step step)
{
	struct vring_used *used = a->ring->dev.used_ring;
	uint16_t idx = step.used_cached ? a->used : pvq_load(ACCESS(a, step, used->idx));
	struct vring_used_elem *elem = &used->ring[idx & (a->ring->dev.size - 1)];

	if (step.used_combined) {
		pvq_store_pair(ACCESS(a, step, *elem), head, 0);
	} else {
		pvq_store(ACCESS(a, step, elem->id), head);
		pvq_store(ACCESS(a, step, elem->len), 0);
	}
	if (!step.used_cached)
		idx = pvq_load(ACCESS(a, step, used->idx));
	a->used = idx + 1;
	pvq_store_release(ACCESS(a, step, used->idx), a->used);
}

/* Would the driver be called? It was, too, when there was nothing left to take. */
LOOPS_INLINE bool
access_must_call(struct access *a, const struct access_step step)
{
	struct vring_avail *avail = a->ring->dev.avail_ring;
	uint16_t flags;

	pvq_full_fence();
	flags = pvq_load(ACCESS(a, step, avail->flags));
	if (!step.avail_cached)
		a->known_avail = pvq_load(ACCESS(a, step, avail->idx));
	return !(flags & VRING_AVAIL_F_NO_INTERRUPT);
}

/* Is buffer @p seq at that address? */
LOOPS_INLINE bool
access_check(struct access *a, uint64_t addr, uint64_t seq, const struct access_step step)
{
	const uint64_t *number = step.mem_cached ? pvq_mem_whole(&a->mem, addr, ACCESS_BUFFER)
						 : access_walk(a, addr, step);

	return number != NULL && pvq_load(number) == seq;
}

#endif /* ACCESS_H */
