/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "table.h"

static void
heading(const struct card *card)
{
	char text[1024];

	printf("%s: %s\n\n", card->name, card->title);
	card_machine(&card->machine, text, sizeof(text));
	printf("%s\n", text);
	printf("ring of %" PRIu32 ", burst", card->ring);
	for (unsigned int i = 0; i < card->nb_bursts; i++)
		printf("%s %" PRIu32, i > 0 ? "," : "", card->bursts[i]);
	printf(", %" PRIu64 " buffers a run, %u rounds; %s\n\n", card->count, card->repeat,
			card->unit);
}

static void
columns(const struct card *card)
{
	printf("  %-52s %9s %9s %9s %8s   %-19s", "", "median", "min", "max", "Mops", "ratio");
	for (unsigned int i = 0; i < card->nb_extras; i++)
		printf(" %15s", card->extras[i]);
	putchar('\n');
}

static void
row(const struct card *card, const struct outcome *o)
{
	char name[80];

	card_name(o, name, sizeof(name));
	printf("  %-52s %9.2f %9.2f %9.2f %8.2f   %.3f (%.3f-%.3f)", name, o->value.median,
			o->value.min, o->value.max, 1e3 / o->value.median, o->ratio.median,
			o->ratio.min, o->ratio.max);
	for (unsigned int i = 0; i < card->nb_extras; i++) {
		if (isnan(o->extra[i]))
			printf(" %15s", "-");
		else
			printf(" %15.6g", o->extra[i]);
	}
	putchar('\n');
}

static void
notes(const struct card *card)
{
	for (unsigned int i = 0; i < card->nb_extras; i++) {
		if (isnan(card->outcomes[0].extra[i]))
			printf("\n%s: counters not available here\n", card->extras[i]);
	}
	for (unsigned int i = 0; i < card->nb_outcomes; i++) {
		if (card->outcomes[i].unsafe) {
			printf("\nunsafe: a driver that looks beyond the batch's head may see half "
			       "an entry\n");
			break;
		}
	}
}

void
table_print(const struct card *card, const char *published)
{
	heading(card);
	columns(card);
	for (unsigned int i = 0; i < card->nb_outcomes; i++) {
		if (card_begins_group(card, i))
			printf("%s\n", card->outcomes[i].group);
		row(card, &card->outcomes[i]);
	}
	notes(card);
	printf("\npublished: %s\n\n", published);
}
