/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef CHAIN_H
#define CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "instance.h"
#include "stage.h"

/** Three instances and how their run went. */
struct chain {
	const struct plan *plan;
	struct instance inst[NB_STAGES];
	int signals;                    /**< signalfd */
	int interrupted;                /**< the signal that ended the run early, or 0 */
	bool ending;                    /**< instances are told to end, and may */
	const struct instance *culprit; /**< whose last words explain the failure, or NULL */
	char failure[256];              /**< what went wrong, or "" */
	int64_t began_ms;               /**< when the sender started, on the monotonic clock */
	int64_t moved_ms;               /**< when a packet counter moved last */
	int64_t shown_ms;               /**< when progress was shown last */
};

/**
 * Run the chain from the start of its first instance to the end of its last. Returns when
 * none is left, whatever happened.
 */
void chain_run(struct chain *chain, const struct plan *plan);

/** The monotonic clock in milliseconds. */
int64_t chain_now(void);

#endif /* CHAIN_H */
