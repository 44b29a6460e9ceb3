/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "table.h"
#include "text.h"

static void
settings(const struct plan *plan)
{
	const struct options *opt = plan->opt;

	printf("%s backend, %u queue%s, %s rings of %u%s%s%s, %u-byte frames, burst %u, %s\n\n",
			opt->backend, opt->queues, opt->queues > 1 ? "s" : "",
			opt->packed ? "packed" : "split", opt->ring_size,
			opt->mergeable ? ", mergeable" : "", opt->in_order ? ", in order" : "",
			opt->vectorized ? ", vectorized" : "", opt->size, opt->burst,
			plan->mem.huge ? "hugepages" : "no hugepages");
}

static void
count(const char *name, uint64_t value)
{
	char text[TEXT_COUNT];

	printf("  %-14s %24s\n", name, text_count(text, value));
}

static void
counts(const struct result *res)
{
	count("sent", res->sent);
	count("forwarded", res->forwarded);
	count("received", res->received);
	count("verified", res->verified);
	count("lost", res->lost);
	count("reordered", res->reordered);
	count("duplicated", res->duplicated);
	count("corrupted", res->corrupted);
	if (res->foreign > 0)
		count("foreign", res->foreign);
}

/* The CPUs of a stage, "3" or "3,4". */
static const char *
cpus(char *text, size_t size, const struct placement *place, enum stage stage)
{
	size_t len = 0;

	for (unsigned int i = 0; i < place->nb_workers; i++)
		len += snprintf(text + len, size - len, "%s%u", i > 0 ? "," : "",
				place->cpu[stage][i]);
	return text;
}

static void
stages(const struct chain *chain, const struct result *res)
{
	char text[PLACE_MAX_WORKERS * 8];

	printf("\n  %-14s %12s %12s\n", "", "CPU", "cycles/packet");
	for (int i = 0; i < NB_STAGES; i++)
		printf("  %-14s %12s %12.0f\n", stage_name(i),
				cpus(text, sizeof(text), &chain->plan->place, i), res->cycles[i]);
}

void
table_print(const struct chain *chain, const struct result *res)
{
	const struct report *rx = &chain->inst[RECEIVER].last;

	if (chain->began_ms == 0)
		return;
	settings(chain->plan);
	counts(res);
	printf("\n  %-14s %24.3f\n", "Mpps", res->mpps);
	printf("  %-14s %24.3f\n", "Gb/s", res->gbps);
	stages(chain, res);
	printf("\n  %-14s %11s %11s %11s %11s\n", "", "p50", "p99", "p99.9", "max");
	printf("  %-14s %11.1f %11.1f %11.1f %11.1f\n", "latency, us",
			(double)rx->latency.p50 / 1e3, (double)rx->latency.p99 / 1e3,
			(double)rx->latency.p999 / 1e3, (double)rx->latency.max / 1e3);
	fflush(stdout);
}

static void
last_words(const struct instance *inst)
{
	unsigned int kept = MIN(inst->nb_errors, (unsigned int)INSTANCE_TAIL);

	for (unsigned int i = inst->nb_errors - kept; i < inst->nb_errors; i++)
		fprintf(stderr, "  %s: %s\n", inst->name, inst->tail[i % INSTANCE_TAIL]);
}

void
table_explain(const struct chain *chain, const struct result *res)
{
	if (chain->failure[0] != '\0') {
		warnx("%s", chain->failure);
		if (chain->culprit != NULL)
			last_words(chain->culprit);
	} else if (chain->interrupted != 0) {
		warnx("stopped early: %s", strsignal(chain->interrupted));
	} else if (res->sent == 0) {
		warnx("no packet was sent");
	} else if (!res->complete) {
		warnx("%" PRIu64 " packets lost, %" PRIu64 " reordered, %" PRIu64
		      " duplicated, %" PRIu64 " corrupted, %" PRIu64 " foreign",
				res->lost, res->reordered, res->duplicated, res->corrupted,
				res->foreign);
	}
}
