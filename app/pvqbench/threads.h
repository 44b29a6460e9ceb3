/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef THREADS_H
#define THREADS_H

/**
 * @file
 * Two pinned threads that start together, and how one of them waits.
 */

#include <sched.h>

#include "clock.h"
#include "experiment.h"

/** Rounds of waiting before the CPU is offered to others: few when both threads share one. */
extern unsigned int threads_patience;

/** Pin the calling thread to @p cpu. */
void threads_pin(unsigned int cpu);

/** Learn from @p params whether the threads share a CPU. */
void threads_place(const struct params *params);

/** Run @p near on the first CPU, in this thread, and @p far on the second, at the same time.
 *  The sample's time is that of @p near.
 */
void threads_pair(const struct params *params, void (*near)(void *), void (*far)(void *), void *arg,
		struct sample *sample);

/** Run @p work on the first CPU and time it. */
void threads_one(const struct params *params, void (*work)(void *), void *arg,
		struct sample *sample);

/** Seconds without anything moving after which a buffer or a wake-up is lost for good. */
enum { THREADS_STALL = 10 };

/** End the process: nothing has moved for so long. */
void threads_stalled(void) __attribute__((noreturn));

/** How long a side has waited in vain; all zero after each success. */
struct threads_idle {
	unsigned int rounds;
	uint64_t since; /**< ns */
};

/** Offer the CPU to others; the slow part of threads_wait(). */
void threads_yield(struct threads_idle *idle);

/** Wait a moment. */
static inline void
threads_wait(struct threads_idle *idle)
{
	if (++idle->rounds < threads_patience)
		clock_pause();
	else
		threads_yield(idle);
}

#endif /* THREADS_H */
