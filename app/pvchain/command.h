/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef COMMAND_H
#define COMMAND_H

#include "args.h"
#include "memory.h"
#include "place.h"
#include "rundir.h"
#include "stage.h"

/** Everything that is settled before the first instance starts. */
struct plan {
	const struct options *opt;
	struct placement place;
	struct memory mem;
	struct rundir dir;
	char pvfwd[4096];
};

enum { COMMAND_MAX_ARGS = 64 };

/** A command line for execvp(). */
struct command {
	unsigned int nb_args;
	char *argv[COMMAND_MAX_ARGS + 1];
};

/** Settle which pvfwd runs: the user's, the one beside this program, or the one in $PATH. */
void command_find_pvfwd(char *path, size_t size, const char *users);

/** Build the command line of a stage; command_free() releases it. */
void command_build(struct command *cmd, const struct plan *plan, enum stage stage);

void command_free(struct command *cmd);

#endif /* COMMAND_H */
