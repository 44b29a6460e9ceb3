/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * Sequence numbers of one flow: which came, which came twice, which came late.
 */

#ifndef PVFWD_SEQTRACK_H
#define PVFWD_SEQTRACK_H

#include <stdint.h>

#define PVFWD_SEQ_WINDOW 32768 /* a power of two, at least the largest ring */

struct pvfwd_seqtrack {
	uint64_t next; /**< one above the highest number seen */
	/** Bit n % PVFWD_SEQ_WINDOW: number n came, for n in [next - PVFWD_SEQ_WINDOW, next) */
	uint64_t seen[PVFWD_SEQ_WINDOW / 64];
};

enum pvfwd_seq {
	PVFWD_SEQ_NEW,  /**< the highest so far; *gap numbers below it have not come */
	PVFWD_SEQ_LATE, /**< after a higher one: one missing number less */
	PVFWD_SEQ_DUP,  /**< seen already, or older than the window */
};

/** Note that seq came. *gap is set with PVFWD_SEQ_NEW only. */
enum pvfwd_seq pvfwd_seq_note(struct pvfwd_seqtrack *t, uint64_t seq, uint64_t *gap);

/** Forget everything: the sender began again at 0. */
void pvfwd_seq_reset(struct pvfwd_seqtrack *t);

#endif
