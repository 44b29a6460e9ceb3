/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "experiments.h"
#include "flush_forms.h"

static void
drive(void *arg)
{
	struct loops *loops = arg;

	loops_drive(loops, loops->driver, packed_put, packed_publish, packed_used);
}

static void
run(const struct params *params, struct sample *sample, void (*serve)(void *))
{
	struct packed *p = packed_new(params, false);
	struct loops loops = { .params = params, .driver = p, .device = p };

	threads_pair(params, drive, serve, &loops, sample);
	loops_result(&loops, sample);
	packed_free(p);
}

/* A variant: a loop of its own with the form in it, inlined. */
#define FORM(name, form)                                                                           \
	static unsigned int serve_some_##name(                                                     \
			void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)               \
	{                                                                                          \
		struct packed *p = ring;                                                           \
		unsigned int n = packed_take(p, seq, max, wrong);                                  \
                                                                                                   \
		flush(&p->dev, form);                                                              \
		return n;                                                                          \
	}                                                                                          \
                                                                                                   \
	static void serve_##name(void *arg)                                                        \
	{                                                                                          \
		struct loops *loops = arg;                                                         \
                                                                                                   \
		loops_serve(loops, loops->device, serve_some_##name);                              \
	}                                                                                          \
                                                                                                   \
	static void run_##name(const struct params *params, struct sample *sample)                 \
	{                                                                                          \
		run(params, sample, serve_##name);                                                 \
	}

FORM(barriers, FORM_BARRIERS)
FORM(interleaved, FORM_INTERLEAVED)
FORM(two_passes, FORM_TWO_PASSES)
FORM(releases, FORM_RELEASES)
FORM(words, FORM_WORDS)
FORM(lines, FORM_LINES)

static const struct variant variants[] = {
	{ "a barrier per descriptor", "", false, run_barriers },
	{ "one barrier, interleaved, head flags last", "", true, run_interleaved },
	{ "ids and lengths, one barrier, flags", "", false, run_two_passes },
	{ "a store-release per descriptor", "", false, run_releases },
	{ "64-bit words (the engine)", "", false, run_words },
	{ "whole cache lines", "", true, run_lines },
	{ NULL, NULL, false, NULL },
};

static const uint32_t bursts[] = { 1, 4, 32, 64, 0 };

const struct experiment exp_flush = {
	.name = "flush",
	.title = "packed used entries written back in six forms",
	.unit = "ns per buffer",
	.published = "one barrier for the batch: +3 % throughput (x86, pktgen); on ARMv8 +1.1 %,\n"
		     "and -3.6 % with a barrier per descriptor",
	.count = 2000000,
	.bursts = bursts,
	.variants = variants,
};
