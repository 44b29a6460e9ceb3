/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * What a forwarding lcore runs.
 */

#ifndef PVFWD_LOOP_H
#define PVFWD_LOOP_H

/** Forward on the struct pvfwd_lcore that arg points to until a stop is asked for. Returns 0. */
int pvfwd_loop(void *arg);

#endif
