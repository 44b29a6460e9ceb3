/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * What is logged while EAL starts, held back: a device that is refused is then told in one line,
 * its driver's, without those that EAL and the bus add to it.
 */

#ifndef PVFWD_HELDLOG_H
#define PVFWD_HELDLOG_H

/** Begin to hold the log back. Whatever is held at exit() is printed then. */
void pvfwd_log_hold(void);

/** Print what was held, and hold no more. */
void pvfwd_log_release(void);

/** Drop what was held, and hold no more. */
void pvfwd_log_drop(void);

/** The first line held that is not EAL's own, without its newline; NULL if there is none. */
const char *pvfwd_log_reason(void);

#endif
