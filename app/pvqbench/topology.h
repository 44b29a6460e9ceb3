/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef TOPOLOGY_H
#define TOPOLOGY_H

/**
 * @file
 * What two CPUs have in common, as sysfs tells.
 */

#include <stdbool.h>

enum topology_part {
	TOPOLOGY_CORE,
	TOPOLOGY_L2,
	TOPOLOGY_L3,
};

/** @return 1: both are on the same one; 0: they are not; -1: the machine does not say */
int topology_shared(enum topology_part part, unsigned int cpu, unsigned int other);

/** Is @p cpu in a list such as "0-3,8"? */
bool topology_listed(const char *list, unsigned int cpu);

#endif /* TOPOLOGY_H */
