/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PLOT_H
#define PLOT_H

/**
 * @file
 * A bar chart as SVG: one horizontal bar a figure, its length the median, with a whisker from the
 * smallest to the largest.
 */

#include "card.h"

struct bar {
	char group[128]; /**< a heading above the first of them that has it */
	char label[64];
	char note[64]; /**< after the figure */
	struct figure value;
	bool baseline; /**< shown in grey: others are compared with it */
};

struct plot {
	const char *title;
	const char *subtitle;
	const char *unit;
	const struct bar *bars;
	unsigned int nb_bars;
};

/** @return 0, or -1 with errno */
int plot_write(const char *file, const struct plot *plot);

/** A card's bars. @return 0, or -1 with errno */
int plot_card(const char *file, const struct card *card);

#endif /* PLOT_H */
