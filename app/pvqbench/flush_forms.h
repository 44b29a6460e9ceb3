/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef FLUSH_FORMS_H
#define FLUSH_FORMS_H

/**
 * @file
 * Ways to give a batch of buffers of one descriptor each back on a packed ring. What is left to
 * do after the stores is the same for all.
 */

#include "packed.h"

enum flush_form {
	/** Entry by entry: id and length, a write barrier, the flags. */
	FORM_BARRIERS,
	/** Entry by entry without a barrier, but for one before the head's flags, the last store.
	 *  Unsafe: a driver may see flags beyond the head before the id and length.
	 */
	FORM_INTERLEAVED,
	/** All ids and lengths, one write barrier, all flags, the head's last. */
	FORM_TWO_PASSES,
	/** Entry by entry: id and length, the flags by a store-release. */
	FORM_RELEASES,
	/** The engine: one write barrier, one 64-bit store an entry, the head's last. */
	FORM_WORDS,
	/** One write barrier; four entries to a cache line, put together and stored as one.
	 *  Unsafe: nothing promises that a store of a line keeps its words whole. The addresses are
	 *  overwritten, too, which a used descriptor allows (virtio 1.2, 2.8.9).
	 */
	FORM_LINES,
};

enum { ENTRIES_PER_LINE = 4 };

/* A cache line, to be stored in as few pieces as the machine can. */
typedef uint64_t flush_line __attribute__((vector_size(64), may_alias));

LOOPS_INLINE uint16_t
flush_flags(const struct pvq_used_elem *e, bool wrap)
{
	return pvq_packed_used_flags(wrap) | (e->len > 0 ? PVQ_F_WRITE : 0);
}

LOOPS_INLINE void
flush_id_len(struct vring_packed_desc *desc, const struct pvq_used_elem *e)
{
	pvq_store(&desc->id, e->id);
	pvq_store(&desc->len, e->len);
}

/* The flags of all entries, the head's last. */
LOOPS_INLINE void
flush_all_flags(struct pvq_packed_dev *vq)
{
	struct vring_packed_desc *desc = vq->desc;
	const struct pvq_used_elem *e = vq->shadow_used;
	struct pvq_cursor cur = vq->used;

	for (uint16_t i = 1; i < vq->nb_shadow_used; i++) {
		pvq_cursor_advance(&cur, 1, vq->size);
		pvq_store(&desc[cur.idx].flags, flush_flags(&e[i], cur.wrap));
	}
	pvq_store(&desc[vq->used.idx].flags, flush_flags(e, vq->used.wrap));
}

/* Entry by entry, and what comes after the loop. */
LOOPS_INLINE void
flush_entries(struct pvq_packed_dev *vq, const enum flush_form form)
{
	struct vring_packed_desc *desc = vq->desc;
	const struct pvq_used_elem *e = vq->shadow_used;
	struct pvq_cursor cur = vq->used;

	for (uint16_t i = 0; i < vq->nb_shadow_used; i++) {
		struct vring_packed_desc *d = &desc[cur.idx];
		uint16_t flags = flush_flags(&e[i], cur.wrap);

		flush_id_len(d, &e[i]);
		if (form == FORM_BARRIERS)
			pvq_write_barrier();
		if (form == FORM_BARRIERS || (form == FORM_INTERLEAVED && i > 0))
			pvq_store(&d->flags, flags);
		if (form == FORM_RELEASES)
			pvq_store_release(&d->flags, flags);
		pvq_cursor_advance(&cur, 1, vq->size);
	}
	if (form == FORM_INTERLEAVED || form == FORM_TWO_PASSES)
		pvq_write_barrier();
	if (form == FORM_INTERLEAVED)
		pvq_store(&desc[vq->used.idx].flags, flush_flags(e, vq->used.wrap));
	if (form == FORM_TWO_PASSES)
		flush_all_flags(vq);
}

/* A whole line of entries, or as many as there are up to the line's end, the first one last. */
LOOPS_INLINE void
flush_piece(struct pvq_packed_dev *vq, struct pvq_cursor at, const struct pvq_used_elem *e,
		uint16_t n)
{
	flush_line line = { 0 };

	if (n < ENTRIES_PER_LINE) {
		while (n-- > 0)
			pvq_publish(pvq_packed_word(&vq->desc[at.idx + n]),
					pvq_packed_used_word(&e[n], at.wrap));
		return;
	}
	for (unsigned int i = 0; i < ENTRIES_PER_LINE; i++)
		line[2 * i + 1] = pvq_packed_used_word(&e[i], at.wrap);
	*(flush_line *)(void *)&vq->desc[at.idx] = line;
}

/* Entries from @p at up to the end of a line or of the ring. */
LOOPS_INLINE uint16_t
flush_piece_size(const struct pvq_packed_dev *vq, struct pvq_cursor at, uint16_t left)
{
	uint16_t n = ENTRIES_PER_LINE - at.idx % ENTRIES_PER_LINE;

	if (n > vq->size - at.idx)
		n = vq->size - at.idx;
	return n < left ? n : left;
}

LOOPS_INLINE void
flush_lines(struct pvq_packed_dev *vq)
{
	const struct pvq_used_elem *e = vq->shadow_used;
	const uint16_t total = vq->nb_shadow_used;
	const uint16_t first = flush_piece_size(vq, vq->used, total);
	struct pvq_cursor cur = vq->used;

	pvq_write_barrier();
	pvq_cursor_advance(&cur, first, vq->size);
	for (uint16_t i = first, n; i < total; i += n) {
		n = flush_piece_size(vq, cur, total - i);
		flush_piece(vq, cur, &e[i], n);
		pvq_cursor_advance(&cur, n, vq->size);
	}
	flush_piece(vq, vq->used, e, first);
}

/** Give all noted buffers back, each of one descriptor. */
LOOPS_INLINE void
flush(struct pvq_packed_dev *vq, const enum flush_form form)
{
	uint16_t n = vq->nb_shadow_used;

	if (n == 0)
		return;
	if (form == FORM_WORDS) {
		pvq_packed_flush_used(vq, NULL);
		return;
	}
	if (form == FORM_LINES)
		flush_lines(vq);
	else
		flush_entries(vq, form);
	pvq_cursor_advance(&vq->used, n, vq->size);
	vq->taken -= n;
	vq->nb_unsignalled += n;
	vq->nb_shadow_used = 0;
}

#endif /* FLUSH_FORMS_H */
