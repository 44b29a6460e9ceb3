/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include <bsd/string.h>

#include "plot.h"

/* Pixels. */
enum {
	WIDTH = 1000,
	LEFT = 350,  /* where the bars begin */
	SCALE = 400, /* the length of the longest */
	TOP = 78,    /* below title and subtitle */
	ROW = 24,
	HEAD = 28,   /* a group's heading */
	BAR = 14,    /* a bar's height */
	BOTTOM = 40, /* for the axis */
};

/* A single far outlier shall not make all bars short: its whisker is cut off. */
static double
axis_end(const struct plot *plot)
{
	double median = 0, max = 0;

	for (unsigned int i = 0; i < plot->nb_bars; i++) {
		median = MAX(median, plot->bars[i].value.median);
		max = MAX(max, plot->bars[i].value.max);
	}
	max = MIN(max, 1.5 * median);
	return max > 0 ? max : 1;
}

/* The distance of ticks, at most 6 of them: 1, 2 or 5 with some power of ten. */
static double
axis_step(double end)
{
	static const double factor[] = { 2, 2.5, 2 };
	double step = 1e-3;

	for (unsigned int i = 0; step * 6 < end && i < 60; i++)
		step *= factor[i % 3];
	return step;
}

static bool
begins_group(const struct plot *plot, unsigned int i)
{
	return i == 0 || strcmp(plot->bars[i].group, plot->bars[i - 1].group) != 0;
}

static unsigned int
height(const struct plot *plot)
{
	unsigned int pixels = TOP + BOTTOM;

	for (unsigned int i = 0; i < plot->nb_bars; i++)
		pixels += ROW + (begins_group(plot, i) ? HEAD : 0);
	return pixels;
}

static void
text(FILE *f, unsigned int x, unsigned int y, const char *class, const char *words)
{
	fprintf(f, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, class);
	for (; *words != '\0'; words++) {
		switch (*words) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		default:
			fputc(*words, f);
		}
	}
	fputs("</text>\n", f);
}

static void
line(FILE *f, double x1, double y1, double x2, double y2, const char *class)
{
	fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1,
			x2, y2, class);
}

static void
begin(FILE *f, const struct plot *plot)
{
	unsigned int h = height(plot);

	fprintf(f,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
			"viewBox=\"0 0 %d %u\">\n"
			"<style>text{font-family:sans-serif;font-size:13px;fill:#222}"
			".title{font-size:18px;font-weight:bold}.small{font-size:11px;fill:#555}"
			".group{font-weight:bold}.label{text-anchor:end}.tick{font-size:11px;"
			"text-anchor:middle;fill:#555}.bar{fill:#2f6fa8}.base{fill:#8a8f94}"
			".grid{stroke:#ddd}.whisker{stroke:#111;stroke-width:1.5}</style>\n"
			"<rect width=\"%d\" height=\"%u\" fill=\"#fff\"/>\n",
			WIDTH, h, WIDTH, h, WIDTH, h);
	text(f, 16, 28, "title", plot->title);
	text(f, 16, 48, "small", plot->subtitle);
}

static void
axis(FILE *f, const struct plot *plot, double end)
{
	unsigned int bottom = height(plot) - BOTTOM;
	double step = axis_step(end);
	char label[48];

	for (double at = 0; at <= end; at += step) {
		unsigned int x = LEFT + (unsigned int)(SCALE * at / end);

		line(f, x, TOP - 10, x, bottom, "grid");
		snprintf(label, sizeof(label), "%.6g", at);
		text(f, x, bottom + 16, "tick", label);
	}
	text(f, LEFT + SCALE / 2, bottom + 32, "tick", plot->unit);
}

static void
draw_bar(FILE *f, const struct bar *bar, unsigned int y, double end)
{
	double scale = SCALE / end;
	double length = MIN(bar->value.median, end) * scale;
	double low = LEFT + MIN(bar->value.min, end) * scale;
	double high = LEFT + MIN(bar->value.max, end) * scale;
	double middle = y + BAR / 2.0;
	char figure[128];

	text(f, LEFT - 8, y + BAR - 2, "label", bar->label);
	fprintf(f, "<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" class=\"%s\"/>\n", LEFT, y,
			length, BAR, bar->baseline ? "base" : "bar");
	line(f, low, middle, high, middle, "whisker");
	line(f, low, middle - 4, low, middle + 4, "whisker");
	if (bar->value.max <= end)
		line(f, high, middle - 4, high, middle + 4, "whisker");
	snprintf(figure, sizeof(figure), "%.4g%s (%s)", bar->value.median,
			bar->value.max > end ? " \xe2\x80\xa6" : "", bar->note);
	text(f, LEFT + SCALE + 12, y + BAR - 2, "figure", figure);
}

int
plot_write(const char *file, const struct plot *plot)
{
	FILE *f = fopen(file, "w");
	double end = axis_end(plot);
	unsigned int y = TOP;

	if (f == NULL)
		return -1;
	begin(f, plot);
	axis(f, plot, end);
	for (unsigned int i = 0; i < plot->nb_bars; i++) {
		if (begins_group(plot, i)) {
			text(f, 16, y + BAR, "group", plot->bars[i].group);
			y += HEAD;
		}
		draw_bar(f, &plot->bars[i], y, end);
		y += ROW;
	}
	fputs("</svg>\n", f);
	return fclose(f);
}

int
plot_card(const char *file, const struct card *card)
{
	struct bar bars[EXPERIMENT_VARIANTS];
	char title[256], machine[1024];
	struct plot plot = {
		.title = title,
		.subtitle = machine,
		.unit = card->unit,
		.bars = bars,
		.nb_bars = card->nb_outcomes,
	};

	snprintf(title, sizeof(title), "%s: %s", card->name, card->title);
	card_machine(&card->machine, machine, sizeof(machine));
	for (unsigned int i = 0; i < card->nb_outcomes; i++) {
		const struct outcome *o = &card->outcomes[i];
		struct bar *bar = &bars[i];

		*bar = (struct bar){ .value = o->value, .baseline = card_begins_group(card, i) };
		strlcpy(bar->group, o->group, sizeof(bar->group));
		card_name(o, bar->label, sizeof(bar->label));
		snprintf(bar->note, sizeof(bar->note), "ratio %.3f, %.3f to %.3f", o->ratio.median,
				o->ratio.min, o->ratio.max);
	}
	return plot_write(file, &plot);
}
