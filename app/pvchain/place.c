/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "place.h"

/* A CPU and what decides whether it is taken before another. */
struct candidate {
	unsigned int cpu;
	unsigned int package;
	unsigned int sibling; /* 0 for a core's first hardware thread */
};

static unsigned int
topology(unsigned int cpu, const char *file, unsigned int otherwise)
{
	char path[128];
	unsigned int value = otherwise;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
	f = fopen(path, "r");
	if (f == NULL)
		return otherwise;
	if (fscanf(f, "%u", &value) != 1)
		value = otherwise;
	fclose(f);
	return value;
}

/* Near CPUs before far ones, whole cores before second threads of cores already taken. */
static int
preference(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->package != b->package)
		return a->package < b->package ? -1 : 1;
	if (a->sibling != b->sibling)
		return a->sibling < b->sibling ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static unsigned int
candidates(struct candidate *list)
{
	unsigned int n = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		err(EXIT_FAILURE, "sched_getaffinity");
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		list[n++] = (struct candidate){ cpu, topology(cpu, "physical_package_id", 0),
			topology(cpu, "thread_siblings_list", cpu) != cpu };
	}
	qsort(list, n, sizeof(*list), preference);
	return n;
}

static void
place_shared(struct placement *place, const struct candidate *list)
{
	unsigned int last = place->nb_cpus - 1;

	place->cpu[SENDER][0] = list[last].cpu;
	place->cpu[MIDDLE][0] = list[0].cpu;
	place->cpu[RECEIVER][0] = list[last].cpu;
}

void
place_stages(struct placement *place, unsigned int queues)
{
	struct candidate list[CPU_SETSIZE];
	unsigned int next;

	place->nb_cpus = candidates(list);
	place->nb_workers = 1;
	if (place->nb_cpus < NB_STAGES) {
		place_shared(place, list);
		return;
	}

	while (place->nb_workers < queues && place->nb_workers < PLACE_MAX_WORKERS &&
			(place->nb_workers + 1) * NB_STAGES <= place->nb_cpus)
		place->nb_workers++;
	/* The first CPU serves most interrupts: leave it alone where there are enough. */
	next = place->nb_cpus > place->nb_workers * NB_STAGES;
	for (unsigned int stage = 0; stage < NB_STAGES; stage++)
		for (unsigned int i = 0; i < place->nb_workers; i++)
			place->cpu[stage][i] = list[next++].cpu;
}
