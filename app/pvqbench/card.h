/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef CARD_H
#define CARD_H

/**
 * @file
 * What one experiment gave on one machine.
 */

#include <stddef.h>

#include "experiment.h"
#include "machine.h"

struct figure {
	double median, min, max;
};

struct outcome {
	char name[64];
	char group[32];
	bool unsafe;
	struct figure value;             /**< time a buffer */
	struct figure ratio;             /**< to the group's first in the same round */
	double ticks;                    /**< of the processor's counter a buffer, median */
	double extra[EXPERIMENT_EXTRAS]; /**< medians; NAN: not known here */
};

struct card {
	char name[24];
	char title[160];
	char unit[40];
	struct machine machine;
	uint64_t count;
	uint32_t ring;
	unsigned int repeat;
	uint32_t bursts[EXPERIMENT_VARIANTS];
	unsigned int nb_bursts;
	char extras[EXPERIMENT_EXTRAS][32];
	unsigned int nb_extras;
	struct outcome outcomes[EXPERIMENT_VARIANTS];
	unsigned int nb_outcomes;
};

/** Median, smallest and largest of @p n values, which are sorted by this. */
struct figure card_figure(double *values, unsigned int n);

/** Is the outcome the first of its group, to which the others' ratios are? */
bool card_begins_group(const struct card *card, unsigned int i);

/** The outcome's name, with a warning where one is due. */
void card_name(const struct outcome *outcome, char *text, size_t size);

/** The machine in a line. */
void card_machine(const struct machine *machine, char *text, size_t size);

#endif /* CARD_H */
