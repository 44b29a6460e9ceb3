/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef EXPLORE_H
#define EXPLORE_H

/**
 * @file
 * What another processor may see of stores that were made in some order.
 *
 * On a weakly ordered machine stores arrive in any order, but for three rules. A store arrives
 * after an earlier one
 * - when a write barrier or a full fence was between them: they are of different epochs,
 * - when it is a release store,
 * - when the two have bytes in common.
 *
 * A memory image is a set of arrived stores that is closed under these rules. All there are of a
 * recording are tried, one by one. A reader that acquires flags and then reads on may find memory
 * moved on from one image to a larger one; that one is tried, too, and the flags are set in it.
 */

#include "record_order.h"

#define EXPLORE_MAX_STEPS 64

struct record_step {
	enum record_kind kind;
	unsigned int epoch; /**< barriers that order stores, so far */
	uint8_t *at;
	uint8_t size;
	bool ordered;      /**< a release store, an acquire load */
	uint8_t before[8]; /**< what a store found */
	uint8_t after[8];
};

struct recording {
	struct record_step step[EXPLORE_MAX_STEPS];
	unsigned int n;
};

/** What is recorded from record_begin() to record_end(). */
extern struct recording recording;

void record_begin(void);
void record_end(void);

/** Called after each load that is recorded; NULL: nothing. */
extern void (*record_loaded)(uint8_t *at, uint8_t size);

/** Counts the steps of one kind. */
unsigned int record_count(enum record_kind kind);

struct explored {
	uint64_t images;
	uint64_t bad; /**< those on which the reader returned false */
};

/** Run @p reader on every image of the recording, and leave memory as it was. */
struct explored explore(bool (*reader)(const void *arg), const void *arg);

#endif /* EXPLORE_H */
