/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <sched.h>

#include "place.h"
#include "topology.h"

bool
place_usable(unsigned int cpu)
{
	cpu_set_t set;

	return cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof(set), &set) == 0 &&
	       CPU_ISSET(cpu, &set);
}

void
place_default(unsigned int cpu[2])
{
	unsigned int nb = 0;

	cpu[0] = 0;
	cpu[1] = 0;
	for (unsigned int i = 0; i < CPU_SETSIZE; i++) {
		if (!place_usable(i))
			continue;
		if (nb++ == 0)
			cpu[0] = i;
		if (nb <= 2)
			cpu[1] = i;
		/* A core of its own is better than the first that came. */
		if (nb >= 2 && topology_shared(TOPOLOGY_CORE, cpu[0], i) != 1) {
			cpu[1] = i;
			return;
		}
	}
}
