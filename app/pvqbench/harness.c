/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "harness.h"
#include "threads.h"

/* One variant with one burst, and what its runs gave, round by round. */
struct entry {
	const struct variant *variant;
	struct params params;
	unsigned int first; /* the entry of its group that it is compared with */
	char group[32];
	double *value, *ticks, *extra[EXPERIMENT_EXTRAS];
	uint64_t wrong;
};

struct plan {
	const struct experiment *exp;
	unsigned int nb_entries;
	struct entry entries[EXPERIMENT_VARIANTS];
};

static double *
room(unsigned int n)
{
	double *values = calloc(n, sizeof(values[0]));

	if (values == NULL)
		err(EXIT_FAILURE, "no memory for the figures");
	return values;
}

static void
add_entry(struct plan *plan, const struct variant *variant, const struct params *params,
		const char *group)
{
	unsigned int i = plan->nb_entries++;
	struct entry *e = &plan->entries[i];

	*e = (struct entry){ .variant = variant, .params = *params, .first = i };
	strlcpy(e->group, group, sizeof(e->group));
	if (i > 0 && strcmp(e->group, e[-1].group) == 0)
		e->first = e[-1].first;
	e->value = room(params->repeat);
	e->ticks = room(params->repeat);
	for (unsigned int x = 0; x < EXPERIMENT_EXTRAS; x++)
		e->extra[x] = room(params->repeat);
}

static void
add_burst(struct plan *plan, struct params params, uint32_t burst, bool named)
{
	char group[32];

	params.burst = burst;
	snprintf(group, sizeof(group), "burst %u", burst);
	for (const struct variant *v = plan->exp->variants; v->name != NULL; v++)
		add_entry(plan, v, &params, named ? group : v->group);
}

static void
drop(struct plan *plan)
{
	for (unsigned int i = 0; i < plan->nb_entries; i++) {
		free(plan->entries[i].value);
		free(plan->entries[i].ticks);
		for (unsigned int x = 0; x < EXPERIMENT_EXTRAS; x++)
			free(plan->entries[i].extra[x]);
	}
}

static void
run_once(struct entry *e, unsigned int round)
{
	struct sample sample = { 0 };
	double count;

	e->variant->run(&e->params, &sample);
	count = (double)(sample.done > 0 ? sample.done : e->params.count);
	e->wrong += sample.wrong;
	e->value[round] = (double)sample.ns / count;
	e->ticks[round] = (double)sample.ticks / count;
	for (unsigned int x = 0; x < EXPERIMENT_EXTRAS; x++)
		e->extra[x][round] = sample.extra[x];
}

/* A first round that is thrown away warms caches, pages and the clock. */
static void
run_all(struct plan *plan, unsigned int repeat)
{
	for (unsigned int i = 0; i < plan->nb_entries; i++)
		run_once(&plan->entries[i], 0);
	for (unsigned int round = 0; round < repeat; round++) {
		for (unsigned int i = 0; i < plan->nb_entries; i++)
			run_once(&plan->entries[i], round);
	}
}

static void
ratios(const struct plan *plan, unsigned int repeat, struct card *card)
{
	double *pairs = room(repeat);

	for (unsigned int i = 0; i < plan->nb_entries; i++) {
		const struct entry *e = &plan->entries[i], *first = &plan->entries[e->first];

		for (unsigned int round = 0; round < repeat; round++)
			pairs[round] = e->value[round] / first->value[round];
		card->outcomes[i].ratio = card_figure(pairs, repeat);
	}
	free(pairs);
}

static bool
outcomes(struct plan *plan, unsigned int repeat, struct card *card)
{
	bool right = true;

	ratios(plan, repeat, card); /* before the values are sorted */
	for (unsigned int i = 0; i < plan->nb_entries; i++) {
		struct entry *e = &plan->entries[i];
		struct outcome *o = &card->outcomes[i];

		strlcpy(o->name, e->variant->name, sizeof(o->name));
		strlcpy(o->group, e->group, sizeof(o->group));
		o->unsafe = e->variant->unsafe;
		o->value = card_figure(e->value, repeat);
		o->ticks = card_figure(e->ticks, repeat).median;
		for (unsigned int x = 0; x < card->nb_extras; x++)
			o->extra[x] = card_figure(e->extra[x], repeat).median;
		if (e->wrong > 0) {
			warnx("%s: %s, %s: %" PRIu64 " buffers did not come as they were sent",
					plan->exp->name, e->group, e->variant->name, e->wrong);
			right = false;
		}
	}
	card->nb_outcomes = plan->nb_entries;
	return right;
}

static void
head(struct card *card, const struct experiment *exp, const struct params *params)
{
	*card = (struct card){
		.count = params->count,
		.ring = params->ring,
		.repeat = params->repeat,
	};
	strlcpy(card->name, exp->name, sizeof(card->name));
	strlcpy(card->title, exp->title, sizeof(card->title));
	strlcpy(card->unit, exp->unit, sizeof(card->unit));
	machine_describe(&card->machine, params->cpu);
	while (card->nb_extras < EXPERIMENT_EXTRAS && exp->extras[card->nb_extras] != NULL) {
		strlcpy(card->extras[card->nb_extras], exp->extras[card->nb_extras],
				sizeof(card->extras[0]));
		card->nb_extras++;
	}
}

bool
harness_run(const struct experiment *exp, const struct params *params, bool all_bursts,
		struct card *card)
{
	struct plan plan = { .exp = exp };
	bool right;

	head(card, exp, params);
	if (exp->bursts == NULL || !all_bursts)
		card->bursts[card->nb_bursts++] = params->burst;
	for (const uint32_t *b = exp->bursts; all_bursts && b != NULL && *b != 0; b++) {
		if (*b <= params->ring)
			card->bursts[card->nb_bursts++] = *b;
	}
	for (unsigned int i = 0; i < card->nb_bursts; i++)
		add_burst(&plan, *params, card->bursts[i], exp->bursts != NULL);
	threads_place(params);
	run_all(&plan, params->repeat);
	right = outcomes(&plan, params->repeat, card);
	drop(&plan);
	return right;
}
