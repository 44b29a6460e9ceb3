/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * SIGINT and SIGTERM ask for a stop; a second one ends the process at once.
 */

#ifndef PVFWD_SIGNALS_H
#define PVFWD_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

extern int pvfwd_stop_requests;

void pvfwd_signals_init(void);

static inline bool
pvfwd_stopping(void)
{
	return __atomic_load_n(&pvfwd_stop_requests, __ATOMIC_RELAXED) > 0;
}

/** Ask for a stop from within. */
void pvfwd_stop(void);

/** Sleep until the given CLOCK_MONOTONIC time in ns, or until a stop is asked for. */
void pvfwd_sleep_until(uint64_t ns);

#endif
