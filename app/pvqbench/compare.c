/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "compare.h"
#include "json.h"
#include "plot.h"

enum {
	MAX_BARS = EXPERIMENT_VARIANTS * ARGS_MAX_CARDS,
};

/* The cards of one experiment. */
struct set {
	const struct card *card[ARGS_MAX_CARDS];
	unsigned int nb_cards;
};

static const struct outcome *
outcome_of(const struct card *card, const struct outcome *like)
{
	for (unsigned int i = 0; i < card->nb_outcomes; i++) {
		const struct outcome *o = &card->outcomes[i];

		if (strcmp(o->name, like->name) == 0 && strcmp(o->group, like->group) == 0)
			return o;
	}
	return NULL;
}

static void
print_row(const struct set *set, const struct outcome *like)
{
	char name[80];

	card_name(like, name, sizeof(name));
	printf("  %-52s", name);
	for (unsigned int c = 0; c < set->nb_cards; c++) {
		const struct outcome *o = outcome_of(set->card[c], like);

		if (o != NULL)
			printf(" %12.2f (%6.3f)", o->value.median, o->ratio.median);
		else
			printf(" %21s", "-");
	}
	putchar('\n');
}

/* The rows are those of the first card; all cards come from the same command. */
static void
print_table(const struct set *set)
{
	const struct card *first = set->card[0];
	char text[1024];

	printf("%s: %s\n\n", first->name, first->title);
	for (unsigned int c = 0; c < set->nb_cards; c++) {
		card_machine(&set->card[c]->machine, text, sizeof(text));
		printf("%c: %s\n", 'A' + (int)c, text);
	}
	printf("\nmedian, %s (ratio)\n\n%54s", first->unit, "");
	for (unsigned int c = 0; c < set->nb_cards; c++)
		printf(" %21c", 'A' + (int)c);
	putchar('\n');
	for (unsigned int i = 0; i < first->nb_outcomes; i++) {
		if (card_begins_group(first, i))
			printf("%s\n", first->outcomes[i].group);
		print_row(set, &first->outcomes[i]);
	}
	putchar('\n');
}

static void
set_bar(struct bar *bar, unsigned int c, const struct card *card, const struct outcome *o)
{
	char name[80];

	card_name(o, name, sizeof(name));
	*bar = (struct bar){ .value = o->value, .baseline = c == 0 };
	snprintf(bar->group, sizeof(bar->group), "%s: %s", o->group, name);
	snprintf(bar->label, sizeof(bar->label), "%c: %.30s (%.10s)", 'A' + (int)c,
			card->machine.cpu, card->machine.arch);
	snprintf(bar->note, sizeof(bar->note), "ratio %.3f", o->ratio.median);
}

static int
draw(const struct set *set, const char *dir)
{
	const struct card *first = set->card[0];
	struct bar *bars = calloc(MAX_BARS, sizeof(bars[0]));
	struct plot plot = { .unit = first->unit, .bars = bars };
	char title[256], file[PATH_MAX];
	int ret;

	if (bars == NULL)
		err(EXIT_FAILURE, "no memory for the plot");
	snprintf(title, sizeof(title), "%s: %s", first->name, first->title);
	plot.title = title;
	plot.subtitle = "the same command on several machines; ratios are each machine's own";
	for (unsigned int i = 0; i < first->nb_outcomes; i++) {
		for (unsigned int c = 0; c < set->nb_cards; c++) {
			const struct outcome *o = outcome_of(set->card[c], &first->outcomes[i]);

			if (o != NULL)
				set_bar(&bars[plot.nb_bars++], c, set->card[c], o);
		}
	}
	snprintf(file, sizeof(file), "%s/compare-%s.svg", dir, first->name);
	ret = plot_write(file, &plot);
	if (ret != 0)
		warn("%s", file);
	free(bars);
	return ret;
}

/* All cards of the experiment that card @p i is the first of; empty when it is not. */
static struct set
set_of(const struct card *cards, unsigned int nb_cards, unsigned int i)
{
	struct set set = { .nb_cards = 0 };

	for (unsigned int c = 0; c < nb_cards; c++) {
		if (strcmp(cards[c].name, cards[i].name) != 0)
			continue;
		if (c < i)
			return set;
		set.card[set.nb_cards++] = &cards[c];
	}
	return set;
}

int
compare_run(char *const *files, unsigned int nb_files, const char *dir)
{
	struct card *cards = calloc(nb_files, sizeof(cards[0]));
	int status = EXIT_SUCCESS;
	char wrong[256];

	if (cards == NULL)
		err(EXIT_FAILURE, "no memory for the cards");
	for (unsigned int i = 0; i < nb_files; i++) {
		if (json_read(files[i], &cards[i], wrong, sizeof(wrong)) != 0)
			errx(EXIT_USAGE, "%s: %s", files[i], wrong);
	}
	for (unsigned int i = 0; i < nb_files; i++) {
		struct set set = set_of(cards, nb_files, i);

		if (set.nb_cards == 0)
			continue;
		print_table(&set);
		if (draw(&set, dir) != 0)
			status = EXIT_FAILURE;
	}
	free(cards);
	return status;
}
