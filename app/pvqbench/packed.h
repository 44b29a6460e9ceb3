/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PACKED_H
#define PACKED_H

/**
 * @file
 * Both halves of a packed ring, as the experiments use them.
 */

#include "pvq_packed_dev.h"
#include "pvq_packed_drv.h"

#include "loops.h"

struct packed {
	struct pvq_packed_drv drv __attribute__((aligned(256)));
	struct pvq_packed_dev dev __attribute__((aligned(256)));
	struct pvq_single *singles; /* room for a burst */
	struct pvq_mem mem;
};

/** Make a fresh ring in the arena. */
struct packed *packed_new(const struct params *params, bool event_idx);

void packed_free(struct packed *p);

LOOPS_INLINE bool
packed_put(void *ring, uint64_t seq)
{
	struct packed *p = ring;
	const struct pvq_seg seg = { .addr = seq, .len = LOOPS_BUFFER, .write = true };

	return pvq_packed_put(&p->drv, &seg, 1, loops_token(seq)) == 0;
}

LOOPS_INLINE void
packed_publish(void *ring)
{
	struct packed *p = ring;

	pvq_packed_publish(&p->drv);
}

LOOPS_INLINE bool
packed_used(void *ring, uint64_t *seq)
{
	struct packed *p = ring;
	uint32_t len;
	void *token = pvq_packed_next_used(&p->drv, &len);

	return loops_came_back(token, len, seq);
}

/** Take up to @p max buffers and note that they are done with: all but the flush. */
LOOPS_INLINE unsigned int
packed_take(struct packed *p, uint64_t seq, unsigned int max, uint64_t *wrong)
{
	unsigned int n = pvq_packed_next_singles(&p->dev, p->singles, (uint16_t)max, true);

	for (unsigned int i = 0; i < n; i++) {
		*wrong += p->singles[i].addr != seq + i;
		pvq_packed_push_used(&p->dev, p->singles[i].id, loops_len(seq + i), 1);
	}
	return n;
}

/** loops_serve_some with the engine's own flush. */
LOOPS_INLINE unsigned int
packed_serve(void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)
{
	struct packed *p = ring;
	unsigned int n = packed_take(p, seq, max, wrong);

	pvq_packed_flush_used(&p->dev, NULL);
	return n;
}

#endif /* PACKED_H */
