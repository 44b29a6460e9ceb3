/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include <rte_log.h>

#include "heldlog.h"

static FILE *held;
static char *text;
static size_t size;

void
pvfwd_log_hold(void)
{
	held = open_memstream(&text, &size);
	if (held == NULL)
		return;
	rte_openlog_stream(held);
	atexit(pvfwd_log_release);
}

void
pvfwd_log_drop(void)
{
	if (held == NULL)
		return;
	rte_openlog_stream(NULL);
	fclose(held);
	free(text);
	held = NULL;
}

void
pvfwd_log_release(void)
{
	if (held == NULL)
		return;
	fflush(held);
	fwrite(text, 1, size, stderr);
	pvfwd_log_drop();
}

const char *
pvfwd_log_reason(void)
{
	static char line[512];
	const char *p, *end;

	if (held == NULL)
		return NULL;
	fflush(held);
	for (p = text; (end = strchr(p, '\n')) != NULL; p = end + 1) {
		if (strncmp(p, "EAL: ", strlen("EAL: ")) == 0 || end == p)
			continue;
		strlcpy(line, p, sizeof(line));
		line[strcspn(line, "\n")] = '\0';
		return line;
	}
	return NULL;
}
