/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_WAKE_H
#define PVQ_WAKE_H

/**
 * @file
 * Two threads, one at each side of a ring, that pass buffers and wake each other by eventfds.
 */

#include <err.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>

#define PVQ_LOST_MS 20000 /* a wake-up that has not come by then never will */

struct pvq_wake {
	uint64_t count; /**< buffers to pass */
	bool events;    /**< sleep when there is nothing to do */
	int kick, call; /**< eventfds */
	unsigned int nkicks, ncalls;
	bool failed; /**< on either side; both give up */
};

/** What has to hold. */
static inline void
pvq_wake_check(struct pvq_wake *w, bool good)
{
	if (!good)
		__atomic_store_n(&w->failed, true, __ATOMIC_RELAXED);
}

static inline bool
pvq_wake_goes_on(struct pvq_wake *w, uint64_t done)
{
	return done < w->count && !__atomic_load_n(&w->failed, __ATOMIC_RELAXED);
}

static inline void
pvq_wake_up(int fd)
{
	if (eventfd_write(fd, 1) < 0)
		err(1, "eventfd");
}

static inline void
pvq_wake_sleep(struct pvq_wake *w, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	eventfd_t value;

	pvq_wake_check(w, poll(&p, 1, PVQ_LOST_MS) == 1 && eventfd_read(fd, &value) == 0);
}

#endif /* PVQ_WAKE_H */
