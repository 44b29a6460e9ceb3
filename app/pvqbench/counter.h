/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef COUNTER_H
#define COUNTER_H

/**
 * @file
 * Loads of the calling thread that missed the first-level cache.
 */

/** Begin to count. */
void counter_start(void);

/** @return the misses since counter_start(), or NAN when this machine does not count them */
double counter_stop(void);

#endif /* COUNTER_H */
