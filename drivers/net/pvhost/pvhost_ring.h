/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVHOST_RING_H
#define PVHOST_RING_H

/**
 * @file
 * The engine's verbs for the ring of a queue, of whichever format. @p split is a constant in the
 * bodies of the bursts, and q->split where speed does not matter.
 */

#include <errno.h>

#include "pvhost.h"

union pvhost_mark {
	struct pvq_packed_mark packed;
	struct pvq_split_mark split;
};

static inline union pvhost_mark
pvhost_ring_mark(const struct pvhost_queue *q, const bool split)
{
	union pvhost_mark mark;

	if (split)
		mark.split = pvq_split_mark(&q->ring.split);
	else
		mark.packed = pvq_packed_mark(&q->ring.packed);
	return mark;
}

static inline void
pvhost_ring_rewind(struct pvhost_queue *q, union pvhost_mark mark, const bool split)
{
	if (split)
		pvq_split_rewind(&q->ring.split, mark.split);
	else
		pvq_packed_rewind(&q->ring.packed, mark.packed);
}

static inline void
pvhost_ring_keep(struct pvhost_queue *q, union pvhost_mark mark, uint16_t n, const bool split)
{
	if (split)
		pvq_split_keep(&q->ring.split, mark.split, n);
	else
		pvq_packed_keep(&q->ring.packed, mark.packed, n);
}

static inline uint16_t
pvhost_ring_next_singles(struct pvhost_queue *q, struct pvq_single *out, uint16_t max, bool write,
		const bool split)
{
	return split ? pvq_split_next_singles(&q->ring.split, out, max, write)
		     : pvq_packed_next_singles(&q->ring.packed, out, max, write);
}

/** Descriptors of a packed ring, or buffers of a split one, that are available. */
static inline uint16_t
pvhost_ring_count_avail(struct pvhost_queue *q)
{
	return q->split ? pvq_split_nb_avail(&q->ring.split)
			: pvq_packed_count_avail(&q->ring.packed);
}

static inline uint16_t
pvhost_ring_size(const struct pvhost_queue *q)
{
	return q->split ? q->ring.split.size : q->ring.packed.size;
}

/** Its segments are appended to q->segs.
 *  @return 1: a buffer; 0: none; -EINVAL: a broken one, which pvhost_ring_push() gives back
 */
static inline int
pvhost_ring_next_avail(struct pvhost_queue *q, struct pvq_chain *chain)
{
	int ret;

	if (!q->split)
		return pvq_packed_next_avail(&q->ring.packed, chain, &q->segs);
	ret = pvq_split_next_avail(&q->ring.split, chain, &q->segs);
	if (ret != -ENXIO)
		return ret;
	chain->ndesc = 0; /* it has no id to give it back by */
	return -EINVAL;
}

static inline void
pvhost_ring_push(struct pvhost_queue *q, const struct pvq_chain *chain, uint32_t len)
{
	if (chain->ndesc == 0)
		return;
	if (q->split)
		pvq_split_push_used(&q->ring.split, chain->id, len);
	else
		pvq_packed_push_used(&q->ring.packed, chain->id, len, chain->ndesc);
}

static inline void
pvhost_ring_push_singles(struct pvhost_queue *q, const struct pvq_single *buf, uint16_t n,
		bool written, const bool split)
{
	if (split)
		pvq_split_push_singles(&q->ring.split, buf, n, written);
	else
		pvq_packed_push_singles(&q->ring.packed, buf, n, written);
}

/** Say of all buffers pushed since @p mark that nothing was written into them. */
static inline void
pvhost_ring_empty(struct pvhost_queue *q, union pvhost_mark mark)
{
	if (q->split)
		pvq_split_empty_used(&q->ring.split, mark.split);
	else
		pvq_packed_empty_used(&q->ring.packed, mark.packed);
}

/** Give all pushed buffers back, and call the driver if it wants to be. */
static inline void
pvhost_ring_flush(struct pvhost_queue *q, const bool split)
{
	bool call;

	if (split) {
		if (q->ring.split.nb_pushed == 0)
			return;
		pvq_split_flush_used(&q->ring.split, NULL);
		call = q->call_fd >= 0 && pvq_split_must_call(&q->ring.split);
	} else {
		if (q->ring.packed.nb_shadow_used == 0)
			return;
		pvq_packed_flush_used(&q->ring.packed, NULL);
		call = q->call_fd >= 0 && pvq_packed_must_call(&q->ring.packed);
	}
	q->count.flushes++;
	if (call) {
		q->count.calls++;
		pvhost_queue_call(q);
	}
}

#endif /* PVHOST_RING_H */
