/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/libutil.h>
#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "engine.h"
#include "options.h"
#include "pvfwd.h"

struct option_def {
	const char *name;
	const char *arg; /* as the usage text shows it: "" takes none, "[" makes it optional */
	int (*parse)(struct pvfwd_config *cfg, const struct option_def *def, const char *arg);
	size_t field;
	int64_t min, max;
	const char *help;
};

static int
refuse(const struct option_def *def, const char *arg, const char *reason)
{
	pvfwd_error("--%s=%s: %s", def->name, arg, reason);
	return -1;
}

static int
refuse_range(const struct option_def *def, const char *arg, const char *what)
{
	pvfwd_error("--%s=%s: %s (%" PRId64 " to %" PRId64 ")", def->name, arg, what, def->min,
			def->max);
	return -1;
}

static int
parse_number(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	const char *what;
	int64_t value = strtonum(arg, def->min, def->max, &what);

	if (what != NULL)
		return refuse_range(def, arg, what);
	*(int64_t *)((char *)cfg + def->field) = value;
	return 0;
}

/* A number that may end in k, M or G, powers of 1024. */
static int
parse_size(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	uint64_t value;

	if (arg[0] == '-')
		return refuse_range(def, arg, "too small");
	if (expand_number(arg, &value) < 0) {
		if (errno != ERANGE)
			return refuse_range(def, arg, "invalid");
		value = UINT64_MAX;
	}
	if (value < (uint64_t)def->min || value > (uint64_t)def->max)
		return refuse_range(
				def, arg, value < (uint64_t)def->min ? "too small" : "too large");
	*(int64_t *)((char *)cfg + def->field) = value;
	return 0;
}

/* The number may be left out: then it is 1. */
static int
parse_number_or_one(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	return parse_number(cfg, def, arg == NULL ? "1" : arg);
}

static int
parse_mode(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	cfg->engine = pvfwd_engine_find(arg);
	return cfg->engine != NULL ? 0 : refuse(def, arg, "no such mode (see --help)");
}

static int
parse_txpkts(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	char list[PVFWD_MAX_SEGS * 6 + 1], *rest = list, *word;
	const char *what;

	cfg->nb_segs = 0;
	cfg->pkt_len = 0;
	if (strlcpy(list, arg, sizeof(list)) >= sizeof(list))
		return refuse(def, arg, "too many segments");
	while ((word = strsep(&rest, ",")) != NULL) {
		if (cfg->nb_segs == PVFWD_MAX_SEGS)
			return refuse(def, arg, "too many segments (255 at most)");
		cfg->seg_len[cfg->nb_segs] = strtonum(word, 1, PVFWD_MAX_LEN, &what);
		if (what != NULL) {
			pvfwd_error("--%s=%s: segment '%s' is %s (1 to %u)", def->name, arg, word,
					what, PVFWD_MAX_LEN);
			return -1;
		}
		cfg->pkt_len += cfg->seg_len[cfg->nb_segs++];
	}
	if (cfg->pkt_len < PVFWD_MIN_LEN)
		return refuse(def, arg, "the headers and the stamp need 64 bytes");
	if (cfg->pkt_len > PVFWD_MAX_LEN)
		return refuse(def, arg, "a packet of more than 65535 bytes");
	return 0;
}

static int
parse_attach(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	if (cfg->nb_attach == PVFWD_MAX_ATTACH)
		return refuse(def, arg, "too many devices (16 at most)");
	cfg->attach[cfg->nb_attach++] = arg;
	return 0;
}

static int
set_drop(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	RTE_SET_USED(def);
	RTE_SET_USED(arg);
	if (cfg->tx_retry_num == PVFWD_AUTO)
		cfg->tx_retry_num = 0;
	return 0;
}

static int
set_multi_flow(struct pvfwd_config *cfg, const struct option_def *def, const char *arg)
{
	RTE_SET_USED(def);
	RTE_SET_USED(arg);
	cfg->multi_flow = true;
	return 0;
}

#define FIELD(f) offsetof(struct pvfwd_config, f)

static const struct option_def options[] = {
	{ "forward-mode", "=MODE", parse_mode, 0, 0, 0, "io (default), mac, rxonly or txonly" },
	{ "burst", "=N", parse_number, FIELD(burst), 1, PVFWD_MAX_BURST, "packets per burst (32)" },
	{ "txpkts", "=A[,B...]", parse_txpkts, 0, 0, 0,
			"lengths of the segments of a packet made here (64)" },
	{ "txonly-multi-flow", "", set_multi_flow, 0, 0, 0,
			"16 flows to each Tx queue, differing in their UDP source port" },
	{ "nb-cores", "=N", parse_number, FIELD(nb_cores), 1, RTE_MAX_LCORE,
			"forwarding lcores (1); the main lcore is the last to be used" },
	{ "rxq", "=N", parse_number, FIELD(rxq), 1, RTE_MAX_QUEUES_PER_PORT, "Rx queues (1)" },
	{ "txq", "=N", parse_number, FIELD(txq), 1, RTE_MAX_QUEUES_PER_PORT, "Tx queues (1)" },
	{ "rxd", "=N", parse_number, FIELD(rxd), 1, UINT16_MAX, "descriptors in an Rx ring" },
	{ "txd", "=N", parse_number, FIELD(txd), 1, UINT16_MAX, "descriptors in a Tx ring" },
	{ "total-num-mbufs", "=N", parse_size, FIELD(total_num_mbufs), 0, UINT32_MAX,
			"mbufs in the pool (as many as needed)" },
	{ "mbuf-size", "=N", parse_size, FIELD(mbuf_size), RTE_PKTMBUF_HEADROOM + PVFWD_MIN_LEN,
			UINT16_MAX, "bytes in an mbuf, 128 of headroom included (2176)" },
	{ "max-pkt-len", "=N", parse_number, FIELD(max_pkt_len), PVFWD_MIN_LEN, PVFWD_MAX_LEN,
			"longest packet the ports must take (1518, or that of --txpkts)" },
	{ "burst-tx-retry-num", "=N", parse_number, FIELD(tx_retry_num), 0, UINT32_MAX,
			"retry a full port N times, then drop (hold and retry for ever)" },
	{ "burst-tx-delay", "=N", parse_number, FIELD(tx_delay_us), 0, 1000000,
			"microseconds to wait before each retry (0)" },
	{ "drop-when-full", "", set_drop, 0, 0, 0, "drop what a full port does not take" },
	{ "tx-first", "[=N]", parse_number_or_one, FIELD(tx_first), 1, UINT16_MAX,
			"first send N bursts (1) into each stream" },
	{ "packets", "=N", parse_number, FIELD(packets), 1, INT64_MAX,
			"txonly: make N packets, then idle" },
	{ "duration", "=S", parse_number, FIELD(duration), 1, UINT32_MAX,
			"txonly: send for S seconds, then idle" },
	{ "attach", "=DEV,ARGS", parse_attach, 0, 0, 0,
			"plug in a device once the others are set up; repeatable" },
	{ "stats-period", "=S", parse_number, FIELD(stats_period), 1, 86400,
			"print the rates every S seconds" },
	{ "report-fd", "=FD", parse_number, FIELD(report_fd), 0, INT32_MAX,
			"write the figures to an open descriptor, as lines of JSON" },
};

static void
set_defaults(struct pvfwd_config *cfg)
{
	*cfg = (struct pvfwd_config){
		.engine = pvfwd_engine_find("io"),
		.burst = 32,
		.nb_cores = 1,
		.rxq = 1,
		.txq = 1,
		.rxd = PVFWD_AUTO,
		.txd = PVFWD_AUTO,
		.total_num_mbufs = PVFWD_AUTO,
		.mbuf_size = RTE_MBUF_DEFAULT_BUF_SIZE,
		.max_pkt_len = PVFWD_AUTO,
		.tx_retry_num = PVFWD_AUTO,
		.report_fd = -1,
		.seg_len = { PVFWD_MIN_LEN },
		.nb_segs = 1,
		.pkt_len = PVFWD_MIN_LEN,
	};
}

/* getopt's values are the index into the table plus FIRST, clear of '?' and ':' */
#define FIRST 256

static void
fill_getopt(struct option *longs)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(options); i++) {
		const char *arg = options[i].arg;

		longs[i].name = options[i].name;
		longs[i].has_arg = arg[0] == '\0'  ? no_argument
				   : arg[0] == '[' ? optional_argument
						   : required_argument;
		longs[i].val = FIRST + i;
	}
}

int
pvfwd_options_parse(struct pvfwd_config *cfg, int argc, char **argv)
{
	struct option longs[RTE_DIM(options) + 1] = { 0 };
	int opt;

	set_defaults(cfg);
	fill_getopt(longs);
	optind = 0; /* glibc: start afresh */
	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+:", longs, NULL)) != -1) {
		if (opt == ':') {
			pvfwd_error("%s: needs a value", argv[optind - 1]);
			return -1;
		}
		if (opt < FIRST) {
			pvfwd_error("%s: %s", argv[optind - 1],
					optopt >= FIRST ? "takes no value"
							: "no such option (see --help)");
			return -1;
		}
		if (options[opt - FIRST].parse(cfg, &options[opt - FIRST], optarg) < 0)
			return -1;
	}
	if (optind < argc) {
		pvfwd_error("stray word '%s' after --", argv[optind]);
		return -1;
	}
	return pvfwd_options_check(cfg);
}

void
pvfwd_options_help(void)
{
	char left[32];
	unsigned int i;

	printf("Usage: pvfwd [EAL options] -- [options]\n\n"
	       "Forwards, makes or checks packets on DPDK ports. The options are testpmd's where\n"
	       "testpmd has them; --vdev, -l and the like belong before the \"--\".\n\n");
	for (i = 0; i < RTE_DIM(options); i++) {
		const struct option_def *o = &options[i];

		snprintf(left, sizeof(left), "--%s%s", o->name, o->arg);
		printf("  %-24s %s\n", left, o->help);
	}
	printf("  %-24s %s\n  %-24s %s\n", "--help", "this text", "--version", "the version");
}
