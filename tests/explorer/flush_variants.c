/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "flush_variants.h"

static uint16_t
flags_of(const struct batch *b, unsigned int i)
{
	return pvq_driver_used_flags(&b->p.drv, b->entry[i].pos) |
	       (b->entry[i].elem.len > 0 ? VRING_DESC_F_WRITE : 0);
}

static void
store_id_len(const struct batch *b, unsigned int i)
{
	pvq_store(&desc_of(b, i)->id, b->entry[i].elem.id);
	pvq_store(&desc_of(b, i)->len, b->entry[i].elem.len);
}

static void
store_flags(const struct batch *b, unsigned int i)
{
	pvq_store(&desc_of(b, i)->flags, flags_of(b, i));
}

static void
store_word(const struct batch *b, unsigned int i)
{
	pvq_store(pvq_packed_word(desc_of(b, i)),
			pvq_packed_word_make(
					b->entry[i].elem.len, b->entry[i].elem.id, flags_of(b, i)));
}

static void
flush_used(struct batch *b)
{
	pvq_packed_flush_used(&b->p.dev, NULL);
}

/* Ids and lengths of all, the barrier, the flags of all, the head's last. */
static void
ids_barrier_flags(struct batch *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		store_id_len(b, i);
	pvq_write_barrier();
	for (unsigned int i = b->n; i-- > 0;)
		store_flags(b, i);
}

/* Entry by entry, the barrier only before the head's flags. */
static void
interleaved(struct batch *b)
{
	store_id_len(b, 0);
	for (unsigned int i = 1; i < b->n; i++) {
		store_id_len(b, i);
		store_flags(b, i);
	}
	pvq_write_barrier();
	store_flags(b, 0);
}

/* The same with a release store in the place of the barrier. */
static void
interleaved_release(struct batch *b)
{
	store_id_len(b, 0);
	for (unsigned int i = 1; i < b->n; i++) {
		store_id_len(b, i);
		store_flags(b, i);
	}
	pvq_store_release(&desc_of(b, 0)->flags, flags_of(b, 0));
}

/* The barrier comes before the ids. */
static void
barrier_too_early(struct batch *b)
{
	pvq_write_barrier();
	for (unsigned int i = b->n; i-- > 0;) {
		store_id_len(b, i);
		store_flags(b, i);
	}
}

static void
no_barrier(struct batch *b)
{
	for (unsigned int i = b->n; i-- > 0;)
		store_word(b, i);
}

const struct variant product = { "flush_used", flush_used, 0, 0 };

const struct variant variants[] = {
	{ "ids, barrier, flags", ids_barrier_flags, 0, 0 },
	{ "interleaved", interleaved, 0, 2 },
	{ "interleaved, release", interleaved_release, 0, 2 },
	{ "barrier too early", barrier_too_early, 1, 1 },
	{ "no barrier", no_barrier, 1, 1 },
	{ NULL, NULL, 0, 0 },
};
