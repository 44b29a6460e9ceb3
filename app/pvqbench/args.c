/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "args.h"
#include "place.h"

enum option_id {
	OPT_RING = 256,
	OPT_BURST,
	OPT_COUNT,
	OPT_CPUS,
	OPT_REPEAT,
	OPT_JSON,
	OPT_PLOT,
	OPT_DIR,
	OPT_LIST,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "ring", required_argument, NULL, OPT_RING },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "dir", required_argument, NULL, OPT_DIR },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* clang-format off */
static const char usage[] =
	"Usage: pvqbench NAME [options]\n"
	"       pvqbench all [--dir=DIR] [options]\n"
	"       pvqbench compare A.json B.json ... [--dir=DIR]\n"
	"\n"
	"Times variants of one virtqueue technique, in turn, between two pinned threads;\n"
	"checks that every buffer came as it was sent. --list says which experiments there are.\n"
	"\n"
	"  --ring=N        slots of a ring, 1 to 32768; for split rings a power of two [256]\n"
	"  --burst=N       buffers at a time, 1 to --ring; flush: only this one [32]\n"
	"  --count=N       buffers of a run [the experiment's own]\n"
	"  --cpus=A,B      CPUs of the driver's and the device's thread; A: both on it [two\n"
	"                  usable ones that share no core, where there are any]\n"
	"  --repeat=N      rounds, 1 to 999 [9]\n"
	"  --json=FILE     write the result to FILE\n"
	"  --plot=FILE     draw it as SVG\n"
	"  --dir=DIR       all: NAME.json and NAME.svg go there; compare: compare-NAME.svg [.]\n"
	"  --list, --help, --version\n"
	"\n"
	"Exit status: 0 when every buffer came as it was sent; 1 when one did not or a file\n"
	"could not be written; 2 for a wrong command line.\n";
/* clang-format on */

static uint64_t
number(const char *name, const char *text, long long min, long long max)
{
	const char *wrong;
	long long value = strtonum(text, min, max, &wrong);

	if (wrong != NULL)
		errx(EXIT_USAGE, "--%s=%s: %s (%lld to %lld)", name, text, wrong, min, max);
	return (uint64_t)value;
}

static void
set_cpus(const char *text, unsigned int cpu[2])
{
	char copy[32], *second;

	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		errx(EXIT_USAGE, "--cpus=%s: two CPUs, such as 0,1", text);
	second = strchr(copy, ',');
	if (second != NULL)
		*second++ = '\0';
	else
		second = copy;
	for (unsigned int i = 0; i < 2; i++) {
		const char *wrong, *part = i == 0 ? copy : second;

		cpu[i] = (unsigned int)strtonum(part, 0, INT_MAX, &wrong);
		if (wrong != NULL)
			errx(EXIT_USAGE, "--cpus=%s: two CPUs, such as 0,1", text);
		if (!place_usable(cpu[i]))
			errx(EXIT_USAGE, "--cpus=%s: CPU %u is not usable here", text, cpu[i]);
	}
}

static void
finish(void)
{
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void
list(void)
{
	for (unsigned int i = 0; experiments[i] != NULL; i++)
		printf("%-10s %s\n", experiments[i]->name, experiments[i]->title);
	finish();
}

static void
set_option(struct options *opt, int id)
{
	switch (id) {
	case OPT_RING:
		opt->params.ring = (uint32_t)number("ring", optarg, 1, ARGS_MAX_RING);
		break;
	case OPT_BURST:
		opt->params.burst = (uint32_t)number("burst", optarg, 1, ARGS_MAX_RING);
		opt->all_bursts = false;
		break;
	case OPT_COUNT:
		opt->params.count = number("count", optarg, 1, ARGS_MAX_COUNT);
		break;
	case OPT_CPUS:
		set_cpus(optarg, opt->params.cpu);
		break;
	case OPT_REPEAT:
		opt->params.repeat = (unsigned int)number("repeat", optarg, 1, ARGS_MAX_REPEAT);
		break;
	case OPT_JSON:
		opt->json = optarg;
		break;
	case OPT_PLOT:
		opt->plot = optarg;
		break;
	case OPT_DIR:
		opt->dir = optarg;
		break;
	case OPT_LIST:
		list();
		break;
	case OPT_HELP:
		fputs(usage, stdout);
		finish();
		break;
	case OPT_VERSION:
		puts("pvqbench " PVHOST_VERSION);
		finish();
		break;
	default: /* getopt_long() has said what is wrong */
		exit(EXIT_USAGE);
	}
}

static void
set_command(struct options *opt, char *const *words, int n)
{
	if (n == 0)
		errx(EXIT_USAGE, "which experiment? See pvqbench --list");
	if (strcmp(words[0], "compare") == 0) {
		opt->command = COMMAND_COMPARE;
		opt->files = words + 1;
		opt->nb_files = (unsigned int)(n - 1);
		if (n < 2 || n - 1 > ARGS_MAX_CARDS)
			errx(EXIT_USAGE, "compare: 1 to %d files", ARGS_MAX_CARDS);
		return;
	}
	if (strcmp(words[0], "all") == 0) {
		opt->command = COMMAND_ALL;
	} else {
		opt->command = COMMAND_ONE;
		opt->exp = experiment_find(words[0]);
		if (opt->exp == NULL)
			errx(EXIT_USAGE, "%s: no such experiment, see pvqbench --list", words[0]);
	}
	if (n > 1)
		errx(EXIT_USAGE, "%s: not an option", words[1]);
}

/* Better to learn this now than after the run. */
static void
check_file(const char *name, const char *file)
{
	char copy[PATH_MAX];

	if (file == NULL)
		return;
	if (file[0] == '\0' || strlcpy(copy, file, sizeof(copy)) >= sizeof(copy))
		errx(EXIT_USAGE, "--%s=%s: not a file name", name, file);
	if (access(file, F_OK) == 0 ? access(file, W_OK) != 0 : access(dirname(copy), W_OK) != 0)
		err(EXIT_USAGE, "--%s=%s", name, file);
}

static void
check_dir(const char *dir)
{
	char inside[PATH_MAX - 64]; /* room for a file's name */

	if (snprintf(inside, sizeof(inside), "%s/.", dir) >= (int)sizeof(inside))
		errx(EXIT_USAGE, "--dir: too long a name");
	if (access(inside, W_OK | X_OK) != 0)
		err(EXIT_USAGE, "--dir=%s", dir);
}

static void
check(struct options *opt)
{
	const struct params *p = &opt->params;
	bool split = opt->command == COMMAND_ALL || (opt->exp != NULL && opt->exp->split);

	if (opt->command != COMMAND_ONE && (opt->json != NULL || opt->plot != NULL))
		errx(EXIT_USAGE, "--json and --plot: with one experiment only");
	if (opt->command == COMMAND_ONE && opt->dir != NULL)
		errx(EXIT_USAGE, "--dir: with all and compare only");
	if (opt->dir == NULL)
		opt->dir = ".";
	check_dir(opt->dir);
	if (opt->command == COMMAND_COMPARE)
		return;
	if (split && (p->ring & (p->ring - 1)) != 0)
		errx(EXIT_USAGE, "--ring=%u: a split ring's size is a power of two", p->ring);
	if (p->burst > p->ring)
		errx(EXIT_USAGE, "--burst=%u: the ring has %u slots only", p->burst, p->ring);
	check_file("json", opt->json);
	check_file("plot", opt->plot);
}

void
args_parse(int argc, char **argv, struct options *opt)
{
	int id;

	*opt = (struct options){
		.params = { .ring = 256, .burst = 32, .repeat = 9 },
		.all_bursts = true,
	};
	place_default(opt->params.cpu);
	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		set_option(opt, id);
	set_command(opt, argv + optind, argc - optind);
	/* Without a word about it, a burst is no more than what fits. */
	if (opt->all_bursts && opt->params.burst > opt->params.ring)
		opt->params.burst = opt->params.ring;
	check(opt);
}
