/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "json.h"
#include "machine.h"

static json_t *
settings(const struct plan *plan)
{
	const struct options *opt = plan->opt;

	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:b, s:b, s:b, s:b}", "backend",
			opt->backend, "ring", opt->packed ? "packed" : "split", "size", opt->size,
			"burst", opt->burst, "queues", opt->queues, "queue_size", opt->ring_size,
			"in_order", opt->in_order, "mergeable", opt->mergeable, "vectorized",
			opt->vectorized, "hugepages", plan->mem.huge);
}

static json_t *
packets(const struct result *res)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "sent",
			(json_int_t)res->sent, "forwarded", (json_int_t)res->forwarded, "received",
			(json_int_t)res->received, "verified", (json_int_t)res->verified, "lost",
			(json_int_t)res->lost, "reordered", (json_int_t)res->reordered,
			"duplicated", (json_int_t)res->duplicated, "corrupted",
			(json_int_t)res->corrupted, "foreign", (json_int_t)res->foreign, "mpps",
			res->mpps, "gbps", res->gbps);
}

static json_t *
latency(const struct report *rx)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "p50", (json_int_t)rx->latency.p50, "p99",
			(json_int_t)rx->latency.p99, "p999", (json_int_t)rx->latency.p999, "max",
			(json_int_t)rx->latency.max);
}

static json_t *
stages(const struct chain *chain, const struct result *res)
{
	const struct placement *place = &chain->plan->place;
	json_t *all = json_object();

	for (int i = 0; i < NB_STAGES; i++) {
		const struct report *last = &chain->inst[i].last;
		json_t *cpus = json_array();

		for (unsigned int w = 0; w < place->nb_workers; w++)
			json_array_append_new(cpus, json_integer(place->cpu[i][w]));
		json_object_set_new(all, stage_name(i),
				json_pack("{s:o, s:f, s:I, s:I, s:I, s:I}", "cpus", cpus,
						"cycles_per_packet", res->cycles[i], "rx_packets",
						(json_int_t)last->rx_packets, "tx_packets",
						(json_int_t)last->tx_packets, "dropped",
						(json_int_t)last->dropped, "retries",
						(json_int_t)last->retries));
	}
	return all;
}

static json_t *
machine(const struct chain *chain)
{
	struct machine m;

	machine_describe(&m);
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:I}", "arch", m.arch, "cpu", m.cpu, "kernel",
			m.kernel, "cpus", m.nb_online, "cpus_allowed", chain->plan->place.nb_cpus,
			"tsc_hz", (json_int_t)chain->inst[RECEIVER].last.tsc_hz);
}

static json_t *
document(const struct chain *chain, const struct result *res)
{
	json_t *doc = json_pack("{s:s, s:i, s:s?}", "version", PVHOST_VERSION, "exit_status",
			result_exit_status(chain, res), "failure",
			chain->failure[0] != '\0' ? chain->failure : NULL);

	json_object_update_new(doc, settings(chain->plan));
	json_object_update_new(doc, packets(res));
	json_object_set_new(doc, "latency_ns", latency(&chain->inst[RECEIVER].last));
	json_object_set_new(doc, "stages", stages(chain, res));
	json_object_set_new(doc, "machine", machine(chain));
	return doc;
}

static int
dump(const json_t *doc, FILE *f)
{
	int ret = json_dumpf(doc, f, JSON_INDENT(2) | JSON_REAL_PRECISION(6));

	fputc('\n', f);
	return fclose(f) != 0 || ret != 0 ? -1 : 0;
}

/* Beside the file under another name, then over it. */
static int
dump_atomically(const json_t *doc, const char *file)
{
	char temporary[PATH_MAX];
	mode_t mask = umask(0);
	int fd, ret;

	umask(mask);
	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", file) >= (int)sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkstemp(temporary);
	if (fd < 0)
		return -1;
	fchmod(fd, 0666 & ~mask);
	ret = dump(doc, fdopen(fd, "w"));
	if (ret == 0)
		ret = rename(temporary, file);
	if (ret != 0)
		unlink(temporary);
	return ret;
}

/* What is no regular file, such as /dev/stdout, is written to, not replaced. */
static int
dump_to(const json_t *doc, const char *file)
{
	struct stat st;
	FILE *f;

	if (stat(file, &st) != 0 || S_ISREG(st.st_mode))
		return dump_atomically(doc, file);
	f = fopen(file, "w");
	return f != NULL ? dump(doc, f) : -1;
}

int
json_write(const char *file, const struct chain *chain, const struct result *res)
{
	json_t *doc = document(chain, res);
	int ret = dump_to(doc, file);

	json_decref(doc);
	return ret;
}
