/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef NOTIFY_H
#define NOTIFY_H

/**
 * @file
 * A driver and a device that sleep on eventfds and wake each other, on a ring of either format.
 */

#include "threads.h"

/** A ring's verbs. The system calls beside them cost far more than calling through a pointer. */
struct notify_ops {
	bool (*add)(void *ring, uint64_t seq); /**< and publish */
	bool (*used)(void *ring, uint64_t *seq);
	bool (*must_kick)(void *ring);
	void (*disable_cb)(void *ring);
	bool (*enable_cb)(void *ring);
	bool (*enable_cb_delayed)(void *ring);
	unsigned int (*serve)(void *ring, uint64_t seq, unsigned int max, uint64_t *wrong);
	bool (*must_call)(void *ring);
	void (*disable_kick)(void *ring);
	bool (*enable_kick)(void *ring);
};

/** What a run counts, in this order. */
enum notify_count {
	NOTIFY_KICKS,
	NOTIFY_CALLS,
	NOTIFY_SPURIOUS_CALLS, /**< the driver woke and found nothing used */
	NOTIFY_SPURIOUS_KICKS, /**< the device woke and found nothing available */
	NOTIFY_COUNTS,
};

/** Run it. @param delayed the driver asks for delayed calls */
void notify_run(const struct params *params, const struct notify_ops *ops, void *ring, bool delayed,
		struct sample *sample);

#endif /* NOTIFY_H */
