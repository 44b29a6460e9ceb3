/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef INSTANCE_H
#define INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "report.h"

enum {
	INSTANCE_REPORT_FD = 3, /**< where an instance finds its --report-fd */
	INSTANCE_LINE = 2048,   /**< longer lines are cut into pieces */
	INSTANCE_TAIL = 5,      /**< last lines of its errors that are kept */
};

/** A pipe read line by line. */
struct line_pipe {
	int fd; /**< -1 when closed */
	size_t len;
	char buf[INSTANCE_LINE];
};

/** One pvfwd process. */
struct instance {
	const char *name;
	pid_t pid; /**< 0 before it is started */
	bool running;
	bool stopping; /**< it was told to end */
	bool echo;     /**< show what it prints */
	int status;    /**< as waitpid() gave it, once it has ended */
	unsigned int nb_errors;
	struct line_pipe reports;
	struct line_pipe errors;
	struct report last; /**< the newest line */
	bool sent_all;      /**< its "done" came */
	char tail[INSTANCE_TAIL][INSTANCE_LINE];
};

/** What instance_read() found. */
enum instance_news {
	NEWS_NONE,
	NEWS_MOVED,   /**< it started, or its packet counters moved */
	NEWS_INVALID, /**< a report line that is not one */
};

void instance_init(struct instance *inst, const char *name, bool echo);

/**
 * Start argv[0]. It dies with this process, and a terminal's signals do not reach it.
 * Returns 0 or -1 with errno set.
 */
int instance_start(struct instance *inst, char *const argv[]);

/** Read what its pipes hold, without waiting. */
enum instance_news instance_read(struct instance *inst);

/** Tell it to end. */
void instance_stop(struct instance *inst, int signo);

/** Collect its exit status if it has ended since; true if so. */
bool instance_reap(struct instance *inst);

#endif /* INSTANCE_H */
