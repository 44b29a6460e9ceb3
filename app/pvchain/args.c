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

#include <bsd/libutil.h>
#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "args.h"

enum option_id {
	OPT_BACKEND = 256,
	OPT_RING,
	OPT_SIZE,
	OPT_BURST,
	OPT_DURATION,
	OPT_PACKETS,
	OPT_QUEUES,
	OPT_QUEUE_SIZE,
	OPT_IN_ORDER,
	OPT_MERGEABLE,
	OPT_VECTORIZED,
	OPT_NO_HUGE,
	OPT_JSON,
	OPT_PVFWD,
	OPT_DRIVER,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "ring", required_argument, NULL, OPT_RING },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "packets", required_argument, NULL, OPT_PACKETS },
	{ "queues", required_argument, NULL, OPT_QUEUES },
	{ "queue-size", required_argument, NULL, OPT_QUEUE_SIZE },
	{ "in-order", optional_argument, NULL, OPT_IN_ORDER },
	{ "mergeable", optional_argument, NULL, OPT_MERGEABLE },
	{ "vectorized", no_argument, NULL, OPT_VECTORIZED },
	{ "no-huge", no_argument, NULL, OPT_NO_HUGE },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "pvfwd", required_argument, NULL, OPT_PVFWD },
	{ "driver", required_argument, NULL, OPT_DRIVER },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* clang-format off */
static const char usage[] =
	"Usage: pvchain [options]\n"
	"\n"
	"Runs three pvfwd processes in a chain over vhost-user sockets,\n"
	"  sender (virtio-user) -> middle (two backend ports) -> receiver (virtio-user),\n"
	"checks every packet, and prints what became of them.\n"
	"\n"
	"  --backend=pvhost|vhost   driver of the middle: net_pvhost or DPDK's net_vhost [pvhost]\n"
	"  --ring=packed|split      the kind of virtqueue [packed]\n"
	"  --size=BYTES             frame size, 64 to 9600; long frames are sent in segments [64]\n"
	"  --burst=N                packets a burst, 1 to 512 [32]\n"
	"  --duration=TIME          how long to send: 5, 5s, 1m, 2h [5s]\n"
	"  --packets=N              send exactly N instead; k, M, G multiply by powers of 1024\n"
	"  --queues=N               queue pairs, 1 to 8 [1]\n"
	"  --queue-size=N           descriptors a ring, 32 to 32768 [256]\n"
	"  --in-order[=on|off]      VIRTIO_F_IN_ORDER [off]\n"
	"  --mergeable[=on|off]     VIRTIO_NET_F_MRG_RXBUF [on]\n"
	"  --vectorized             virtio-user's vector paths; with a packed ring they need\n"
	"                           --in-order --mergeable=off\n"
	"  --no-huge                ordinary memory even where there are hugepages\n"
	"  --json=FILE              write the result to FILE as well\n"
	"  --pvfwd=PATH             the pvfwd to run [the one beside pvchain, or in $PATH]\n"
	"  --driver=PATH            a driver for the middle to load (EAL's -d)\n"
	"  --verbose                show the commands and what the instances print\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 when every packet sent arrived once, in order and intact; 1 when one\n"
	"did not or an instance failed; 2 for a wrong command line; 130 after SIGINT, 143 after\n"
	"SIGTERM.\n";
/* clang-format on */

static unsigned int
number(const char *name, const char *text, unsigned int min, unsigned int max)
{
	const char *wrong;
	long long value = strtonum(text, min, max, &wrong);

	if (wrong != NULL)
		errx(EXIT_USAGE, "--%s=%s: %s (%u to %u)", name, text, wrong, min, max);
	return (unsigned int)value;
}

static uint64_t
packet_count(const char *text)
{
	uint64_t value;

	/* expand_number() would read "-1" as a very large count. */
	if (text[0] < '0' || text[0] > '9' || expand_number(text, &value) != 0)
		errx(EXIT_USAGE, "--packets=%s: not a number of packets", text);
	if (value == 0 || value > INT64_MAX)
		errx(EXIT_USAGE, "--packets=%s: out of range", text);
	return value;
}

static unsigned int
seconds(const char *text)
{
	enum { DAY = 24 * 60 * 60 };
	size_t nb_digits = strspn(text, "0123456789");
	const char *unit = text + nb_digits, *wrong = NULL;
	unsigned int scale = 1;
	char digits[16];
	long long value;

	if (strcmp(unit, "m") == 0)
		scale = 60;
	else if (strcmp(unit, "h") == 0)
		scale = 60 * 60;
	else if (strcmp(unit, "s") != 0 && strcmp(unit, "") != 0)
		wrong = "invalid";

	if (nb_digits == 0 || nb_digits >= sizeof(digits))
		wrong = "invalid";
	strlcpy(digits, text, nb_digits < sizeof(digits) ? nb_digits + 1 : sizeof(digits));
	value = wrong == NULL ? strtonum(digits, 1, DAY / scale, &wrong) : 0;
	if (wrong != NULL)
		errx(EXIT_USAGE, "--duration=%s: %s (1s to 24h)", text, wrong);
	return (unsigned int)value * scale;
}

static bool
one_of(const char *name, const char *text, const char *yes, const char *no)
{
	if (strcmp(text, yes) == 0)
		return true;
	if (strcmp(text, no) != 0)
		errx(EXIT_USAGE, "--%s=%s: neither %s nor %s", name, text, yes, no);
	return false;
}

static bool
on_off(const char *name, const char *text)
{
	return text == NULL || one_of(name, text, "on", "off");
}

static void
print_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void
set_option(struct options *opt, int id)
{
	switch (id) {
	case OPT_BACKEND:
		opt->backend = one_of("backend", optarg, "pvhost", "vhost") ? "pvhost" : "vhost";
		break;
	case OPT_RING:
		opt->packed = one_of("ring", optarg, "packed", "split");
		break;
	case OPT_SIZE:
		opt->size = number("size", optarg, ARGS_MIN_SIZE, ARGS_MAX_SIZE);
		break;
	case OPT_BURST:
		opt->burst = number("burst", optarg, 1, ARGS_MAX_BURST);
		break;
	case OPT_DURATION:
		opt->duration = seconds(optarg);
		break;
	case OPT_PACKETS:
		opt->packets = packet_count(optarg);
		break;
	case OPT_QUEUES:
		opt->queues = number("queues", optarg, 1, ARGS_MAX_QUEUES);
		break;
	case OPT_QUEUE_SIZE:
		opt->ring_size = number("queue-size", optarg, ARGS_MIN_RING, ARGS_MAX_RING);
		break;
	case OPT_IN_ORDER:
		opt->in_order = on_off("in-order", optarg);
		break;
	case OPT_MERGEABLE:
		opt->mergeable = on_off("mergeable", optarg);
		break;
	case OPT_VECTORIZED:
		opt->vectorized = true;
		break;
	case OPT_NO_HUGE:
		opt->no_huge = true;
		break;
	case OPT_JSON:
		opt->json = optarg;
		break;
	case OPT_PVFWD:
		opt->pvfwd = optarg;
		break;
	case OPT_DRIVER:
		opt->driver = optarg;
		break;
	case OPT_VERBOSE:
		opt->verbose = true;
		break;
	case OPT_HELP:
		print_and_exit(usage);
		break;
	case OPT_VERSION:
		print_and_exit("pvchain " PVHOST_VERSION "\n");
		break;
	default: /* getopt_long() has said what is wrong */
		exit(EXIT_USAGE);
	}
}

/* Better to learn this now than after an hour's run. */
static void
check_json(const char *file)
{
	char copy[PATH_MAX];

	if (file[0] == '\0' || strlcpy(copy, file, sizeof(copy)) >= sizeof(copy))
		errx(EXIT_USAGE, "--json=%s: not a file name", file);
	if (access(file, F_OK) == 0 ? access(file, W_OK) != 0 : access(dirname(copy), W_OK) != 0)
		err(EXIT_USAGE, "--json=%s", file);
}

static void
check(const struct options *opt)
{
	bool pow2 = (opt->ring_size & (opt->ring_size - 1)) == 0;

	if (!opt->packed && !pow2)
		errx(EXIT_USAGE, "--queue-size=%u: a split ring's size is a power of two",
				opt->ring_size);
	if (opt->packets != 0 && opt->duration != 0)
		errx(EXIT_USAGE, "--packets and --duration exclude each other");
	if (opt->vectorized && (opt->mergeable || opt->in_order != opt->packed))
		errx(EXIT_USAGE,
				"--vectorized: a %s ring has vector paths with --in-order=%s "
				"--mergeable=off only",
				opt->packed ? "packed" : "split", opt->packed ? "on" : "off");
	if (opt->json != NULL)
		check_json(opt->json);
	if (opt->pvfwd != NULL && access(opt->pvfwd, X_OK) != 0)
		err(EXIT_USAGE, "--pvfwd=%s", opt->pvfwd);
	if (opt->driver != NULL && access(opt->driver, R_OK) != 0)
		err(EXIT_USAGE, "--driver=%s", opt->driver);
}

void
args_parse(int argc, char **argv, struct options *opt)
{
	enum { DEFAULT_SECONDS = 5 };
	int id;

	*opt = (struct options){
		.backend = "pvhost",
		.packed = true,
		.mergeable = true,
		.size = 64,
		.burst = 32,
		.queues = 1,
		.ring_size = 256,
	};

	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		set_option(opt, id);
	if (optind < argc)
		errx(EXIT_USAGE, "%s: not an option", argv[optind]);
	check(opt);
	if (opt->packets == 0 && opt->duration == 0)
		opt->duration = DEFAULT_SECONDS;
}
