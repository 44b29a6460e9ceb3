/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef ARGS_H
#define ARGS_H

#include "experiment.h"

enum {
	ARGS_MAX_RING = 32768, /* virtio's bound, both formats */
	ARGS_MAX_REPEAT = 999,
	ARGS_MAX_CARDS = 16,
	EXIT_USAGE = 2,
};

#define ARGS_MAX_COUNT 1000000000000

enum command {
	COMMAND_ONE,
	COMMAND_ALL,
	COMMAND_COMPARE,
};

/** What the user asked for. */
struct options {
	enum command command;
	const struct experiment *exp; /**< of COMMAND_ONE */
	struct params params;         /**< count 0: the experiment's own */
	bool all_bursts;              /**< --burst was not given */
	const char *json, *plot;      /**< files, or NULL */
	const char *dir;
	char *const *files; /**< of COMMAND_COMPARE */
	unsigned int nb_files;
};

/**
 * Read the command line. A wrong one ends the process here, with one line that names what was
 * wrong and EXIT_USAGE; so do --help, --list and --version, with 0.
 */
void args_parse(int argc, char **argv, struct options *opt);

#endif /* ARGS_H */
