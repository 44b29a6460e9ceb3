/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "seqtrack.h"

static uint64_t *
word(struct pvfwd_seqtrack *t, uint64_t seq)
{
	return &t->seen[seq % PVFWD_SEQ_WINDOW / 64];
}

static uint64_t
bit(uint64_t seq)
{
	return UINT64_C(1) << (seq % 64);
}

/* The window slides over numbers that have not come: their bits are an earlier lap's. */
static void
skip(struct pvfwd_seqtrack *t, uint64_t from, uint64_t to)
{
	if (to - from >= PVFWD_SEQ_WINDOW) {
		memset(t->seen, 0, sizeof(t->seen));
		return;
	}
	for (; from < to; from++)
		*word(t, from) &= ~bit(from);
}

enum pvfwd_seq
pvfwd_seq_note(struct pvfwd_seqtrack *t, uint64_t seq, uint64_t *gap)
{
	if (likely(seq >= t->next)) {
		*gap = seq - t->next;
		if (unlikely(*gap > 0))
			skip(t, t->next, seq);
		*word(t, seq) |= bit(seq);
		t->next = seq + 1;
		return PVFWD_SEQ_NEW;
	}
	if (t->next - seq > PVFWD_SEQ_WINDOW || (*word(t, seq) & bit(seq)))
		return PVFWD_SEQ_DUP;
	*word(t, seq) |= bit(seq);
	return PVFWD_SEQ_LATE;
}

void
pvfwd_seq_reset(struct pvfwd_seqtrack *t)
{
	memset(t, 0, sizeof(*t));
}
