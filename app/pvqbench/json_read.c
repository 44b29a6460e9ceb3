/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>
#include <jansson.h>

#include "json.h"

/* One card being read; the first thing found wrong stays. */
struct reader {
	char *wrong;
	size_t size;
};

static void
complain(struct reader *r, const char *key, const char *what)
{
	if (r->wrong[0] == '\0')
		snprintf(r->wrong, r->size, "no card of pvqbench: \"%s\" %s", key, what);
}

/* Control characters would spoil a table, and an SVG more so. */
static bool
printable(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

static void
get_text(struct reader *r, const json_t *obj, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(obj, key));

	if (value == NULL)
		complain(r, key, "is missing or no text");
	else if (!printable(value))
		complain(r, key, "has a control character");
	else if (strlcpy(text, value, size) >= size)
		complain(r, key, "is too long");
}

static double
get_number(struct reader *r, const json_t *obj, const char *key)
{
	const json_t *value = json_object_get(obj, key);

	if (!json_is_number(value) || json_number_value(value) < 0)
		complain(r, key, "is missing or no positive number");
	return json_number_value(value);
}

static unsigned int
get_count(struct reader *r, const json_t *obj, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(obj, key));

	if (value < 0 || value > INT32_MAX)
		complain(r, key, "is out of range");
	return (unsigned int)value;
}

static int
get_truth(const json_t *obj, const char *key)
{
	const json_t *value = json_object_get(obj, key);

	return json_is_boolean(value) ? json_is_true(value) : -1;
}

static void
get_machine(struct reader *r, const json_t *obj, struct machine *m)
{
	const json_t *placement = json_object_get(obj, "placement");
	const json_t *cpus = json_object_get(placement, "cpus");

	get_text(r, obj, "cpu", m->cpu, sizeof(m->cpu));
	get_text(r, obj, "arch", m->arch, sizeof(m->arch));
	get_text(r, obj, "kernel", m->kernel, sizeof(m->kernel));
	get_text(r, obj, "compiler", m->compiler, sizeof(m->compiler));
	get_text(r, obj, "flags", m->flags, sizeof(m->flags));
	m->page_size = get_count(r, obj, "page_size");
	m->nb_cpus = get_count(r, obj, "nb_cpus");
	for (unsigned int i = 0; i < 2; i++)
		m->cpus[i] = (unsigned int)json_integer_value(json_array_get(cpus, i));
	m->same_core = get_truth(placement, "same_core");
	m->shared_l2 = get_truth(placement, "shared_l2");
	m->shared_l3 = get_truth(placement, "shared_l3");
}

static void
get_outcome(struct reader *r, const json_t *obj, struct outcome *o)
{
	get_text(r, obj, "name", o->name, sizeof(o->name));
	get_text(r, obj, "group", o->group, sizeof(o->group));
	o->unsafe = json_is_true(json_object_get(obj, "unsafe"));
	o->value.median = get_number(r, obj, "median");
	o->value.min = get_number(r, obj, "min");
	o->value.max = get_number(r, obj, "max");
	o->ratio.median = get_number(r, obj, "ratio");
	o->ratio.min = get_number(r, obj, "ratio_min");
	o->ratio.max = get_number(r, obj, "ratio_max");
	if (o->value.min > o->value.median || o->value.median > o->value.max)
		complain(r, "median", "is not between min and max");
}

static void
get_card(struct reader *r, const json_t *doc, struct card *card)
{
	const json_t *variants = json_object_get(doc, "variants");
	size_t n = json_array_size(variants);

	*card = (struct card){ .nb_outcomes = (unsigned int)n };
	get_text(r, doc, "name", card->name, sizeof(card->name));
	get_text(r, doc, "title", card->title, sizeof(card->title));
	get_text(r, doc, "unit", card->unit, sizeof(card->unit));
	get_machine(r, json_object_get(doc, "machine"), &card->machine);
	if (n == 0 || n > EXPERIMENT_VARIANTS)
		complain(r, "variants", "is missing, empty or too long");
	if (strpbrk(card->name, "/.") != NULL || card->name[0] == '\0')
		complain(r, "name", "is not the name of an experiment");
	for (size_t i = 0; i < n && r->wrong[0] == '\0'; i++)
		get_outcome(r, json_array_get(variants, i), &card->outcomes[i]);
}

int
json_read(const char *file, struct card *card, char *wrong, size_t size)
{
	struct reader r = { .wrong = wrong, .size = size };
	json_error_t error;
	json_t *doc = json_load_file(file, 0, &error);

	wrong[0] = '\0';
	if (doc == NULL) {
		snprintf(wrong, size, "%s", error.text);
		return -1;
	}
	get_card(&r, doc, card);
	json_decref(doc);
	return wrong[0] == '\0' ? 0 : -1;
}
