/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * The control thread: rates, reports, the end of a limited sender.
 */

#ifndef PVFWD_CONTROL_H
#define PVFWD_CONTROL_H

/** Run until a stop is asked for. The argument and the result are unused: a thread's body. */
void *pvfwd_control(void *arg);

#endif
