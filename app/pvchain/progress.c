/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "progress.h"
#include "text.h"

enum {
	BAR = 10,
	LIVE_MS = 200,
	LINE_MS = 1000,
};

static const char clear_line[] = "\r\033[K";

void
progress_plan(const struct plan *plan)
{
	if (!plan->mem.huge)
		fprintf(stderr, "pvchain: %s: using --no-huge memory (memfd)\n",
				plan->opt->no_huge ? "hugepages left alone" : "no hugepages");
	if (plan->place.nb_cpus < NB_STAGES)
		fprintf(stderr, "pvchain: the three instances share %u CPU%s\n",
				plan->place.nb_cpus, plan->place.nb_cpus > 1 ? "s" : "");
}

void
progress_command(const char *name, char *const argv[])
{
	fprintf(stderr, "[%s]", name);
	for (; *argv != NULL; argv++)
		fprintf(stderr, " %s", *argv);
	fputc('\n', stderr);
}

/* Lines that the instances print would tear a live one apart. */
static bool
is_live(const struct chain *chain)
{
	return isatty(STDERR_FILENO) && !chain->plan->opt->verbose;
}

/* From 0 to 1. */
static double
fraction_done(const struct chain *chain, int64_t now)
{
	const struct options *opt = chain->plan->opt;
	double done;

	if (opt->packets != 0)
		done = (double)chain->inst[RECEIVER].last.rx_packets / (double)opt->packets;
	else
		done = (double)(now - chain->began_ms) / (opt->duration * 1000.0);
	return MIN(done, 1);
}

void
progress_show(struct chain *chain)
{
	const struct report *rx = &chain->inst[RECEIVER].last;
	bool live = is_live(chain);
	char received[TEXT_COUNT], bar[BAR + 1];
	int64_t now = chain_now();
	double done;

	if (chain->began_ms == 0 || chain->ending ||
			now - MAX(chain->shown_ms, chain->began_ms) < (live ? LIVE_MS : LINE_MS))
		return;
	chain->shown_ms = now;
	done = fraction_done(chain, now);
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)(done * BAR));
	bar[BAR] = '\0';
	fprintf(stderr, "%s[%s] %3.0f%% %6.1f s  %7.3f Mpps  %s received, %" PRIu64 " lost%s",
			live ? clear_line : "", bar, done * 100,
			(double)(now - chain->began_ms) / 1000, rx->mpps,
			text_count(received, rx->rx_packets), rx->verify.lost, live ? "" : "\n");
}

void
progress_clear(const struct chain *chain)
{
	if (chain->shown_ms != 0 && is_live(chain))
		fputs(clear_line, stderr);
}
