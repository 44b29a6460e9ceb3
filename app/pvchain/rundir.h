/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef RUNDIR_H
#define RUNDIR_H

#include <stdbool.h>
#include <sys/types.h>

/** A run's private folder, for its sockets and EAL's runtime files. */
struct rundir {
	char path[80]; /**< short enough for a socket's name after it */
	int alive;     /**< held open as long as the run lives */
	pid_t sweeper;
};

/**
 * Make the folder, in $TMPDIR or /tmp. A process of its own removes it when this one is gone,
 * however it went. Ends the process when the folder cannot be made.
 */
void rundir_create(struct rundir *dir);

/** Remove the folder and all in it. */
void rundir_remove(struct rundir *dir);

/** Does a process listen on the socket of this name in the folder? Asked without connecting. */
bool rundir_listens(const struct rundir *dir, const char *name);

#endif /* RUNDIR_H */
