/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>

#include "args.h"
#include "stage.h"

/** The memory of one instance. */
struct memory {
	unsigned int mbuf_size[NB_STAGES]; /**< headroom included */
	unsigned int megabytes;            /**< all of it */
	bool huge;                         /**< there are hugepages for all three instances */
};

/** Work out what an instance needs, and whether hugepages can supply it. */
void memory_plan(struct memory *mem, const struct options *opt);

#endif /* MEMORY_H */
