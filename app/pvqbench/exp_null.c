/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "pvq_order.h"

#include "experiments.h"
#include "loops.h"

static bool
add_nothing(void *ring, uint64_t seq)
{
	(void)ring;
	(void)seq;
	pvq_compiler_barrier(); /* as a ring's accesses would, it keeps the loop a loop */
	return true;
}

static void
publish_nothing(void *ring)
{
	(void)ring;
}

/* As if each buffer had come back at once. */
static bool
used_nothing(void *ring, uint64_t *seq)
{
	uint64_t *next = ring;

	*seq = (*next)++;
	pvq_compiler_barrier();
	return true;
}

static unsigned int
serve_nothing(void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)
{
	(void)ring;
	(void)seq;
	(void)wrong;
	pvq_compiler_barrier();
	return max;
}

static void
drive(void *arg)
{
	uint64_t next = 0;

	loops_drive(arg, &next, add_nothing, publish_nothing, used_nothing);
}

static void
serve(void *arg)
{
	loops_serve(arg, NULL, serve_nothing);
}

static void
run_two(const struct params *params, struct sample *sample)
{
	struct loops loops = { .params = params };

	threads_pair(params, drive, serve, &loops, sample);
	loops_result(&loops, sample);
}

static void
run_one(const struct params *params, struct sample *sample)
{
	struct loops loops = { .params = params };

	threads_one(params, drive, &loops, sample);
	loops_result(&loops, sample);
}

static const struct variant variants[] = {
	{ "two threads", "null", false, run_two },
	{ "one thread", "null", false, run_one },
	{ NULL, NULL, false, NULL },
};

const struct experiment exp_null = {
	.name = "null",
	.title = "the harness with a ring that does nothing",
	.unit = "ns per buffer",
	.published = "nothing: it is the harness's own share of all other figures",
	.count = 50000000,
	.variants = variants,
};
