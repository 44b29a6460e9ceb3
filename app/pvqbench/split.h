/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef SPLIT_H
#define SPLIT_H

/**
 * @file
 * Both halves of a split ring, as the experiments use them.
 */

#include "pvq_split_dev.h"
#include "pvq_split_drv.h"

#include "loops.h"

struct split {
	struct pvq_split_drv drv __attribute__((aligned(256)));
	struct pvq_split_dev dev __attribute__((aligned(256)));
	struct pvq_single *singles; /* room for a burst */
	struct pvq_mem mem;
};

/** Make a fresh ring in the arena. */
struct split *split_new(const struct params *params, bool event_idx);

void split_free(struct split *s);

LOOPS_INLINE bool
split_put(void *ring, uint64_t seq)
{
	struct split *s = ring;
	const struct pvq_seg seg = { .addr = seq, .len = LOOPS_BUFFER, .write = true };

	return pvq_split_put(&s->drv, &seg, 1, loops_token(seq)) == 0;
}

LOOPS_INLINE void
split_publish(void *ring)
{
	struct split *s = ring;

	pvq_split_publish(&s->drv);
}

LOOPS_INLINE bool
split_used(void *ring, uint64_t *seq)
{
	struct split *s = ring;
	uint32_t len;
	void *token = pvq_split_next_used(&s->drv, &len);

	return loops_came_back(token, len, seq);
}

/** loops_serve_some with the engine's verbs. */
LOOPS_INLINE unsigned int
split_serve(void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)
{
	struct split *s = ring;
	unsigned int n = pvq_split_next_singles(&s->dev, s->singles, (uint16_t)max, true);

	for (unsigned int i = 0; i < n; i++) {
		*wrong += s->singles[i].addr != seq + i;
		pvq_split_push_used(&s->dev, s->singles[i].id, loops_len(seq + i));
	}
	pvq_split_flush_used(&s->dev, NULL);
	return n;
}

#endif /* SPLIT_H */
