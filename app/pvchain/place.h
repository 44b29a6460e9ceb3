/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PLACE_H
#define PLACE_H

#include "stage.h"

enum { PLACE_MAX_WORKERS = 8 };

/** The CPUs of each stage. */
struct placement {
	unsigned int nb_cpus;    /**< CPUs that this process may use */
	unsigned int nb_workers; /**< forwarding cores a stage */
	unsigned int cpu[NB_STAGES][PLACE_MAX_WORKERS];
};

/**
 * Spread the stages over the CPUs that this process may use: with three or more, each stage has
 * its own, up to one a queue; with two, the middle has one and its ends share the other.
 */
void place_stages(struct placement *place, unsigned int queues);

#endif /* PLACE_H */
