/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PROGRESS_H
#define PROGRESS_H

#include "chain.h"

/** Say on stderr what the user should know before the run. */
void progress_plan(const struct plan *plan);

/** Show an instance's command line on stderr. */
void progress_command(const char *name, char *const argv[]);

/** Show on stderr how far the run is: a live line on a terminal, else a line a second. */
void progress_show(struct chain *chain);

/** Take the live line away. */
void progress_clear(const struct chain *chain);

#endif /* PROGRESS_H */
