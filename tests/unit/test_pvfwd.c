/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The parts of pvfwd that need no ports: packets, sequence numbers, latencies, options. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/Basic.h>

#include "engine.h"
#include "latency.h"
#include "options.h"
#include "packet.h"
#include "pvfwd.h"
#include "seqtrack.h"

/* What options.c takes from the rest of pvfwd. */

static const struct pvfwd_engine engines[] = {
	{ .name = "io", .rx = true, .tx = true },
	{ .name = "txonly", .tx = true },
	{ .name = "rxonly", .rx = true },
};
static char message[512];
static unsigned int nb_messages;

const struct pvfwd_engine *
pvfwd_engine_find(const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(engines); i++)
		if (strcmp(engines[i].name, name) == 0)
			return &engines[i];
	return NULL;
}

void
pvfwd_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	nb_messages++;
}

static uint64_t
random64(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Packets */

static void
packet_headers(void)
{
	static const uint32_t lengths[] = { 64, 65, 127, 1514, 9000, 65535 };
	struct pvfwd_head head;

	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		pvfwd_head_init(&head, 7, lengths[i]);
		CU_ASSERT_EQUAL(rte_be_to_cpu_16(head.ip.total_length), lengths[i] - 14);
		CU_ASSERT_EQUAL(rte_be_to_cpu_16(head.udp.dgram_len), lengths[i] - 34);
		CU_ASSERT_EQUAL(rte_raw_cksum(&head.ip, sizeof(head.ip)), 0xffff);
		CU_ASSERT_EQUAL(rte_be_to_cpu_16(head.udp.src_port), 7);
		CU_ASSERT_EQUAL(head.udp.dgram_cksum, 0);
	}
}

static void
packet_stamp_bits(void)
{
	struct pvfwd_head head;
	uint8_t *bytes = (uint8_t *)&head.stamp;
	unsigned int missed = 0;

	pvfwd_head_init(&head, 0, 64);
	for (int round = 0; round < 1000; round++) {
		pvfwd_stamp_set(&head, random64(), random64(), random64());
		CU_ASSERT(pvfwd_stamp_ok(&head.stamp));
		for (unsigned int bit = 16; bit < 8 * sizeof(head.stamp); bit++) {
			bytes[bit / 8] ^= 1 << bit % 8;
			missed += pvfwd_stamp_ok(&head.stamp);
			bytes[bit / 8] ^= 1 << bit % 8;
		}
	}
	/* 16 bits of check leave 1 in 65536 of 160,000 unseen if they are as good as random */
	CU_ASSERT(missed <= 10);
}

static void
packet_pattern(void)
{
	static const unsigned int laps[] = { 1, 2, 3, 96, 128, 256, 512, 1000, 1024, 4096, 32768 };
	const uint8_t *end = pvfwd_pattern_table + sizeof(pvfwd_pattern_table);

	for (int round = 0; round < 10000; round++) {
		uint64_t seq = random64();
		uint16_t flow = random64();

		CU_ASSERT(pvfwd_pattern(flow, seq) + PVFWD_MAX_LEN <= end);
		CU_ASSERT(memcmp(pvfwd_pattern(flow, seq), pvfwd_pattern(flow + 1, seq), 16) != 0);
		for (unsigned int i = 0; i < RTE_DIM(laps); i++)
			CU_ASSERT(memcmp(pvfwd_pattern(flow, seq),
						  pvfwd_pattern(flow, seq + laps[i]), 16) != 0);
	}
}

/* Sequence numbers */

static void
seq_in_order(void)
{
	struct pvfwd_seqtrack *t = calloc(1, sizeof(*t));
	uint64_t gap;

	for (uint64_t seq = 0; seq < 3 * PVFWD_SEQ_WINDOW; seq++) {
		CU_ASSERT_EQUAL(pvfwd_seq_note(t, seq, &gap), PVFWD_SEQ_NEW);
		CU_ASSERT_EQUAL(gap, 0);
	}
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 3 * PVFWD_SEQ_WINDOW - 1, &gap), PVFWD_SEQ_DUP);
	free(t);
}

static void
seq_window_edges(void)
{
	struct pvfwd_seqtrack *t = calloc(1, sizeof(*t));
	uint64_t gap;

	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 10, &gap), PVFWD_SEQ_NEW);
	CU_ASSERT_EQUAL(gap, 10);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, PVFWD_SEQ_WINDOW, &gap), PVFWD_SEQ_NEW);
	CU_ASSERT_EQUAL(gap, PVFWD_SEQ_WINDOW - 11);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 0, &gap), PVFWD_SEQ_DUP); /* too old to be told */
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 1, &gap), PVFWD_SEQ_LATE);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 1, &gap), PVFWD_SEQ_DUP);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 10, &gap), PVFWD_SEQ_DUP);

	/* a jump over the whole window leaves nothing of the lap before */
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 10 * PVFWD_SEQ_WINDOW + 10, &gap), PVFWD_SEQ_NEW);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 10 * PVFWD_SEQ_WINDOW + 1, &gap), PVFWD_SEQ_LATE);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 9 * PVFWD_SEQ_WINDOW + 11, &gap), PVFWD_SEQ_LATE);
	pvfwd_seq_reset(t);
	CU_ASSERT_EQUAL(pvfwd_seq_note(t, 0, &gap), PVFWD_SEQ_NEW);
	free(t);
}

/* Against a table that remembers everything. */
static void
seq_random(void)
{
	enum { TOTAL = 200000 };
	struct pvfwd_seqtrack *t = calloc(1, sizeof(*t));
	bool *came = calloc(TOTAL + 100, sizeof(*came));
	uint64_t highest = 0, gap, lost = 0, missing = 0;

	for (uint64_t base = 0; base < TOTAL; base += random64() % 3) {
		uint64_t seq = base + random64() % 100;
		enum pvfwd_seq result = pvfwd_seq_note(t, seq, &gap);

		if (came[seq]) {
			CU_ASSERT_EQUAL(result, PVFWD_SEQ_DUP);
		} else if (seq < highest) {
			CU_ASSERT_EQUAL(result, PVFWD_SEQ_LATE);
			lost--;
		} else {
			CU_ASSERT_EQUAL(result, PVFWD_SEQ_NEW);
			lost += gap;
			highest = seq + 1;
		}
		came[seq] = true;
	}
	for (uint64_t seq = 0; seq < highest; seq++)
		missing += !came[seq];
	CU_ASSERT(missing > 0);
	CU_ASSERT_EQUAL(lost, missing);
	free(came);
	free(t);
}

/* Latencies */

static void
latency_buckets(void)
{
	uint64_t upper;

	for (unsigned int b = 0; b < PVFWD_LAT_BUCKETS; b++) {
		upper = pvfwd_latency_upper(b);
		CU_ASSERT_EQUAL(pvfwd_latency_bucket(upper), b);
		if (b + 1 < PVFWD_LAT_BUCKETS)
			CU_ASSERT_EQUAL(pvfwd_latency_bucket(upper + 1), b + 1);
	}
	CU_ASSERT_EQUAL(upper, UINT64_MAX);
}

static void
latency_quantiles(void)
{
	static struct pvfwd_latency l, sum;

	CU_ASSERT_EQUAL(pvfwd_latency_quantile(&l, 500), 0);
	for (uint64_t v = 1; v <= 100000; v++)
		pvfwd_latency_note(&l, v);
	pvfwd_latency_merge(&sum, &l);
	pvfwd_latency_merge(&sum, &l);
	for (unsigned int permille = 1; permille <= 999; permille++) {
		double exact = permille * 100, got = pvfwd_latency_quantile(&sum, permille);

		CU_ASSERT(got >= exact && got <= exact * 1.033);
	}
	CU_ASSERT_EQUAL(pvfwd_latency_quantile(&sum, 1000), 100000);
	CU_ASSERT_EQUAL(sum.max, 100000);
}

/* Options */

/* Parse a line of words after the "--"; they are not freed, as the result may point at them. */
static int
parse(struct pvfwd_config *cfg, const char *line)
{
	char *argv[32] = { (char *)(uintptr_t) "--" }, *rest = strdup(line), *word;
	int argc = 1;

	while ((word = strsep(&rest, " ")) != NULL)
		if (*word != '\0')
			argv[argc++] = word;
	nb_messages = 0;
	message[0] = '\0';
	return pvfwd_options_parse(cfg, argc, argv);
}

static void
options_defaults(void)
{
	struct pvfwd_config cfg;

	CU_ASSERT_EQUAL(parse(&cfg, ""), 0);
	CU_ASSERT_STRING_EQUAL(cfg.engine->name, "io");
	CU_ASSERT_EQUAL(cfg.burst, 32);
	CU_ASSERT_EQUAL(cfg.nb_segs, 1);
	CU_ASSERT_EQUAL(cfg.pkt_len, 64);
	CU_ASSERT_EQUAL(cfg.tx_retry_num, PVFWD_AUTO);
	CU_ASSERT_EQUAL(cfg.max_pkt_len, PVFWD_AUTO);
	CU_ASSERT_EQUAL(cfg.report_fd, -1);
}

static void
options_values(void)
{
	struct pvfwd_config cfg;

	CU_ASSERT_EQUAL(parse(&cfg, "--forward-mode=txonly --txpkts=20,470 --burst 7 --rxq=2"
				    " --total-num-mbufs=8k --mbuf-size=4k --packets=10000000"
				    " --attach=a,b=c --attach d --report-fd=3"),
			0);
	CU_ASSERT_STRING_EQUAL(cfg.engine->name, "txonly");
	CU_ASSERT_EQUAL(cfg.nb_segs, 2);
	CU_ASSERT_EQUAL(cfg.seg_len[1], 470);
	CU_ASSERT_EQUAL(cfg.pkt_len, 490);
	CU_ASSERT_EQUAL(cfg.burst, 7);
	CU_ASSERT_EQUAL(cfg.rxq, 2);
	CU_ASSERT_EQUAL(cfg.total_num_mbufs, 8192);
	CU_ASSERT_EQUAL(cfg.mbuf_size, 4096);
	CU_ASSERT_EQUAL(cfg.packets, 10000000);
	CU_ASSERT_EQUAL(cfg.nb_attach, 2);
	CU_ASSERT_STRING_EQUAL(cfg.attach[0], "a,b=c");
	CU_ASSERT_EQUAL(cfg.report_fd, 3);
	CU_ASSERT_EQUAL(nb_messages, 0);
}

static void
options_full_port(void)
{
	struct pvfwd_config cfg;

	CU_ASSERT_EQUAL(parse(&cfg, "--drop-when-full"), 0);
	CU_ASSERT_EQUAL(cfg.tx_retry_num, 0);
	CU_ASSERT_EQUAL(parse(&cfg, "--drop-when-full --burst-tx-retry-num=5"), 0);
	CU_ASSERT_EQUAL(cfg.tx_retry_num, 5);
	CU_ASSERT_EQUAL(parse(&cfg, "--burst-tx-retry-num=5 --drop-when-full"), 0);
	CU_ASSERT_EQUAL(cfg.tx_retry_num, 5);
}

/* The ports must take what is made here, without being told. */
static void
options_long_packets(void)
{
	struct pvfwd_config cfg;

	CU_ASSERT_EQUAL(parse(&cfg, "--forward-mode=txonly --txpkts=2000,2000"), 0);
	CU_ASSERT_EQUAL(cfg.max_pkt_len, 4000);
	CU_ASSERT_EQUAL(parse(&cfg, "--tx-first --txpkts=2000,2000"), 0);
	CU_ASSERT_EQUAL(cfg.max_pkt_len, 4000);
	CU_ASSERT_EQUAL(cfg.tx_first, 1);
	CU_ASSERT_EQUAL(parse(&cfg, "--tx-first=9 --txpkts=1518"), 0);
	CU_ASSERT_EQUAL(cfg.max_pkt_len, PVFWD_AUTO);
	CU_ASSERT_EQUAL(cfg.tx_first, 9);
	CU_ASSERT_EQUAL(parse(&cfg, "--forward-mode=rxonly --txpkts=2000,2000"), 0);
	CU_ASSERT_EQUAL(cfg.max_pkt_len, PVFWD_AUTO);
}

static void
options_refused(void)
{
	static const char *const lines[] = {
		"word",
		"--burst=0",
		"--burst",
		"--burst=1x",
		"--txpkts=70000",
		"--txpkts=13",
		"--txpkts=,",
		"--total-num-mbufs=-1",
		"--mbuf-size=1e3",
		"--forward-mode=",
		"--packets=1",
		"--rxq=2",
		"--nonsense",
		"--tx-first=0",
		"--report-fd=-1",
	};
	struct pvfwd_config cfg;

	for (unsigned int i = 0; i < RTE_DIM(lines); i++) {
		CU_ASSERT_EQUAL(parse(&cfg, lines[i]), -1);
		CU_ASSERT_EQUAL(nb_messages, 1);
		CU_ASSERT_PTR_NULL(strchr(message, '\n'));
		CU_ASSERT(strlen(message) > strlen(lines[i]));
	}
}

static CU_TestInfo tests[] = {
	{ "packet: headers", packet_headers },
	{ "packet: every bit of the stamp", packet_stamp_bits },
	{ "packet: pattern", packet_pattern },
	{ "sequence: in order", seq_in_order },
	{ "sequence: window's edges", seq_window_edges },
	{ "sequence: random", seq_random },
	{ "latency: buckets", latency_buckets },
	{ "latency: quantiles", latency_quantiles },
	{ "options: defaults", options_defaults },
	{ "options: values", options_values },
	{ "options: full port", options_full_port },
	{ "options: long packets", options_long_packets },
	{ "options: refused", options_refused },
	CU_TEST_INFO_NULL,
};

int
main(void)
{
	CU_SuiteInfo suites[] = {
		{ .pName = "pvfwd", .pTests = tests },
		CU_SUITE_INFO_NULL,
	};
	unsigned int failures;

	pvfwd_pattern_init();
	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
		return 2;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures == 0 ? 0 : 1;
}
