/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "compare.h"
#include "harness.h"
#include "json.h"
#include "plot.h"
#include "table.h"

/* Run it, print the table, write what is asked for. */
static bool
run(const struct experiment *exp, const struct options *opt, const char *json, const char *plot)
{
	struct params params = opt->params;
	struct card card;
	bool ok;

	if (params.count == 0)
		params.count = exp->count;
	ok = harness_run(exp, &params, opt->all_bursts, &card);
	table_print(&card, exp->published);
	if (fflush(stdout) != 0) {
		warn("standard output");
		ok = false;
	}
	if (json != NULL && json_write(json, &card) != 0) {
		warn("%s", json);
		ok = false;
	}
	if (plot != NULL && plot_card(plot, &card) != 0) {
		warn("%s", plot);
		ok = false;
	}
	return ok;
}

static bool
run_all(const struct options *opt)
{
	char json[PATH_MAX], plot[PATH_MAX];
	bool ok = true;

	for (unsigned int i = 0; experiments[i] != NULL; i++) {
		const struct experiment *exp = experiments[i];

		fprintf(stderr, "%s: %s\n", exp->name, exp->title);
		snprintf(json, sizeof(json), "%s/%s.json", opt->dir, exp->name);
		snprintf(plot, sizeof(plot), "%s/%s.svg", opt->dir, exp->name);
		ok &= run(exp, opt, json, plot);
	}
	return ok;
}

int
main(int argc, char **argv)
{
	struct options opt;
	bool ok;

	args_parse(argc, argv, &opt);
	if (opt.command == COMMAND_COMPARE)
		return compare_run(opt.files, opt.nb_files, opt.dir);
	if (opt.params.cpu[0] == opt.params.cpu[1] && (opt.exp == NULL || !opt.exp->single))
		warnx("both threads share CPU %u: the figures mean little", opt.params.cpu[0]);
	ok = opt.command == COMMAND_ALL ? run_all(&opt) : run(opt.exp, &opt, opt.json, opt.plot);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
