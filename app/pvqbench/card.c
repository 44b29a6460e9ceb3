/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct figure
card_figure(double *values, unsigned int n)
{
	/* What is no number has no order: one of them, and nothing is known. */
	for (unsigned int i = 0; i < n; i++) {
		if (isnan(values[i]))
			return (struct figure){ NAN, NAN, NAN };
	}
	qsort(values, n, sizeof(values[0]), by_size);
	return (struct figure){
		.median = (values[(n - 1) / 2] + values[n / 2]) / 2,
		.min = values[0],
		.max = values[n - 1],
	};
}

bool
card_begins_group(const struct card *card, unsigned int i)
{
	return i == 0 || strcmp(card->outcomes[i].group, card->outcomes[i - 1].group) != 0;
}

void
card_name(const struct outcome *outcome, char *text, size_t size)
{
	snprintf(text, size, "%s%s", outcome->name, outcome->unsafe ? " (unsafe)" : "");
}

static const char *
yes_no(int known)
{
	return known < 0 ? "unknown" : known > 0 ? "yes" : "no";
}

void
card_machine(const struct machine *m, char *text, size_t size)
{
	snprintf(text, size,
			"%s (%s, %u CPUs), kernel %s, %s %s; CPUs %u,%u: same core %s, "
			"L2 shared %s, L3 shared %s",
			m->cpu, m->arch, m->nb_cpus, m->kernel, m->compiler, m->flags, m->cpus[0],
			m->cpus[1], yes_no(m->same_core), yes_no(m->shared_l2),
			yes_no(m->shared_l3));
}
