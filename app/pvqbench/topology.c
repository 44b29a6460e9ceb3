/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdio.h>
#include <stdlib.h>

#include "topology.h"

#define CPU_DIR "/sys/devices/system/cpu/cpu%u/"

static bool
read_line(char *line, size_t size, const char *path)
{
	FILE *f = fopen(path, "r");
	bool ok = f != NULL && fgets(line, (int)size, f) != NULL;

	if (f != NULL)
		fclose(f);
	return ok;
}

bool
topology_listed(const char *list, unsigned int cpu)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10);
		unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

/* The CPUs that share the cache of level 2 or 3, of which a CPU has one at most. */
static bool
cache_list(char *list, size_t size, unsigned int cpu, int level)
{
	char path[96], text[32];

	for (unsigned int i = 0;; i++) {
		snprintf(path, sizeof(path), CPU_DIR "cache/index%u/level", cpu, i);
		if (!read_line(text, sizeof(text), path))
			return false;
		if (atoi(text) != level)
			continue;
		snprintf(path, sizeof(path), CPU_DIR "cache/index%u/shared_cpu_list", cpu, i);
		return read_line(list, size, path);
	}
}

int
topology_shared(enum topology_part part, unsigned int cpu, unsigned int other)
{
	char path[96], list[1024];
	bool known;

	if (part == TOPOLOGY_CORE) {
		snprintf(path, sizeof(path), CPU_DIR "topology/thread_siblings_list", cpu);
		known = read_line(list, sizeof(list), path);
	} else {
		known = cache_list(list, sizeof(list), cpu, part == TOPOLOGY_L2 ? 2 : 3);
	}
	return known ? topology_listed(list, other) : -1;
}
