/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "json.h"

/* JSON has no word for what is no number. */
static json_t *
number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
truth(int known)
{
	return known < 0 ? json_null() : json_boolean(known);
}

static json_t *
machine(const struct machine *m)
{
	json_t *placement = json_pack("{s:[i,i], s:o, s:o, s:o}", "cpus", (int)m->cpus[0],
			(int)m->cpus[1], "same_core", truth(m->same_core), "shared_l2",
			truth(m->shared_l2), "shared_l3", truth(m->shared_l3));

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:o}", "cpu", m->cpu, "arch", m->arch,
			"kernel", m->kernel, "compiler", m->compiler, "flags", m->flags,
			"page_size", (json_int_t)m->page_size, "nb_cpus", (int)m->nb_cpus,
			"placement", placement);
}

static json_t *
parameters(const struct card *card)
{
	json_t *bursts = json_array();

	for (unsigned int i = 0; i < card->nb_bursts; i++)
		json_array_append_new(bursts, json_integer(card->bursts[i]));
	return json_pack("{s:i, s:o, s:I, s:i}", "ring", (int)card->ring, "bursts", bursts, "count",
			(json_int_t)card->count, "repeat", (int)card->repeat);
}

static json_t *
counters(const struct card *card, const struct outcome *o)
{
	json_t *all = json_object();

	for (unsigned int i = 0; i < card->nb_extras; i++)
		json_object_set_new(all, card->extras[i], number(o->extra[i]));
	return all;
}

static json_t *
variant(const struct card *card, const struct outcome *o)
{
	const struct {
		const char *key;
		double value;
	} numbers[] = {
		{ "median", o->value.median },
		{ "min", o->value.min },
		{ "max", o->value.max },
		{ "ratio", o->ratio.median },
		{ "ratio_min", o->ratio.min },
		{ "ratio_max", o->ratio.max },
		{ "mops", 1e3 / o->value.median },
		{ "ticks", o->ticks },
	};
	json_t *obj = json_pack("{s:s, s:s, s:b}", "name", o->name, "group", o->group, "unsafe",
			(int)o->unsafe);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(obj, numbers[i].key, number(numbers[i].value));
	json_object_set_new(obj, "counters", counters(card, o));
	return obj;
}

static json_t *
variants(const struct card *card)
{
	json_t *all = json_array();

	for (unsigned int i = 0; i < card->nb_outcomes; i++)
		json_array_append_new(all, variant(card, &card->outcomes[i]));
	return all;
}

int
json_write(const char *file, const struct card *card)
{
	FILE *f = fopen(file, "w");
	json_t *doc;
	int ret;

	if (f == NULL)
		return -1;
	doc = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "name", card->name, "version",
			PVHOST_VERSION, "title", card->title, "unit", card->unit, "machine",
			machine(&card->machine), "parameters", parameters(card), "variants",
			variants(card));
	ret = json_dumpf(doc, f, JSON_INDENT(2) | JSON_REAL_PRECISION(7));
	fputc('\n', f);
	json_decref(doc);
	return fclose(f) != 0 || ret != 0 ? -1 : 0;
}
