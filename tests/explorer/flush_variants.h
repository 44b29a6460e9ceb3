/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef FLUSH_VARIANTS_H
#define FLUSH_VARIANTS_H

/**
 * @file
 * Ways to give a batch of buffers back: the one of lib/pvq, and others whose safety is known.
 */

#include "pvq_driver.h"

#define MAX_BATCH 5

/** One used entry. */
struct entry {
	uint64_t pos; /**< slot */
	uint64_t payload;
	struct pvq_used_elem elem;
};

/** A batch on a ring whose earlier slots have been through it. */
struct batch {
	struct pvq_pair p;
	uint64_t *payload; /**< by id */
	struct entry entry[MAX_BATCH];
	unsigned int n;
	uint64_t first, end; /**< slots */
};

static inline struct vring_packed_desc *
desc_of(const struct batch *b, unsigned int i)
{
	return pvq_driver_desc(&b->p.drv, b->entry[i].pos);
}

struct variant {
	const char *name;
	void (*flush)(struct batch *b);
	/** From which number of entries on a reader may be misled; 0: never. */
	unsigned int poller_misled, peeker_misled;
};

/** The flush of lib/pvq. */
extern const struct variant product;

/** The others, up to one without a name. */
extern const struct variant variants[];

#endif /* FLUSH_VARIANTS_H */
