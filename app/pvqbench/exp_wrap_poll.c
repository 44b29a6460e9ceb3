/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "experiments.h"
#include "packed.h"
#include "split.h"

/* How the driver counts the laps of its used index, for the sake of its poll. */
enum counting {
	COUNT_NEVER,  /* a constant: there is no count */
	COUNT_ALWAYS, /* a constant: always */
	COUNT_ASKED,  /* the engine: when use_wrap_counter is set */
};

/* One thread is both sides: what a driver does on the way to completion is all that differs. */
struct work {
	struct loops loops;
	void *ring;
};

LOOPS_INLINE bool
used_split(struct split *s, uint64_t *seq, const enum counting counting)
{
	uint32_t len;
	void *token;

	if (counting == COUNT_ASKED)
		token = pvq_split_next_used(&s->drv, &len);
	else
		token = pvq_split_take_used(&s->drv, &len, counting == COUNT_ALWAYS);
	return loops_came_back(token, len, seq);
}

LOOPS_INLINE bool
used_packed(struct packed *p, uint64_t *seq, const enum counting counting)
{
	uint32_t len;
	void *token;

	if (counting == COUNT_ASKED)
		token = pvq_packed_next_used(&p->drv, &len);
	else
		token = pvq_packed_take_used(&p->drv, &len, counting == COUNT_ALWAYS);
	return loops_came_back(token, len, seq);
}

/* Add a burst, let the device complete it, poll for it, take it back. */
LOOPS_INLINE void
go(struct work *work, const bool packed, const enum counting counting)
{
	const struct params *params = work->loops.params;
	struct packed *p = work->ring;
	struct split *s = work->ring;
	uint64_t added = 0, served = 0, done = 0, wrong = 0, seq;
	struct threads_idle idle = { 0 };

	while (done < params->count) {
		uint64_t done_before = done;
		uint32_t at = packed ? pvq_packed_position(&p->drv) : pvq_split_position(&s->drv);

		for (uint32_t i = 0; i < params->burst && added < params->count; i++)
			added += packed ? packed_put(p, added) : split_put(s, added);
		if (packed)
			packed_publish(p);
		else
			split_publish(s);
		/* In two pieces where the ring ends. */
		for (unsigned int i = 0; i < 2 && served < added; i++)
			served += packed ? packed_serve(p, served, params->burst, &wrong)
					 : split_serve(s, served, params->burst, &wrong);
		wrong += !(packed ? pvq_packed_poll(&p->drv, at) : pvq_split_poll(&s->drv, at));
		while (packed ? used_packed(p, &seq, counting) : used_split(s, &seq, counting))
			wrong += seq != done++;
		if (done == done_before)
			threads_wait(&idle);
		else
			idle = (struct threads_idle){ 0 };
	}
	work->loops.driver_wrong = wrong;
}

static void
run_split(const struct params *params, struct sample *sample, void (*body)(void *), bool asked)
{
	struct split *s = split_new(params, false);
	struct work work = { .loops = { .params = params }, .ring = s };

	s->drv.use_wrap_counter = asked;
	threads_one(params, body, &work, sample);
	loops_result(&work.loops, sample);
	split_free(s);
}

static void
run_packed(const struct params *params, struct sample *sample, void (*body)(void *), bool asked)
{
	struct packed *p = packed_new(params, false);
	struct work work = { .loops = { .params = params }, .ring = p };

	p->drv.use_wrap_counter = asked;
	threads_one(params, body, &work, sample);
	loops_result(&work.loops, sample);
	packed_free(p);
}

#define BODY(format, name, packed, counting)                                                       \
	static void format##_##name(void *work)                                                    \
	{                                                                                          \
		go(work, packed, counting);                                                        \
	}

#define VARIANT(format, name, body, asked)                                                         \
	static void run_##format##_##name(const struct params *params, struct sample *sample)      \
	{                                                                                          \
		run_##format(params, sample, format##_##body, asked);                              \
	}

BODY(split, never, false, COUNT_NEVER)
BODY(split, always, false, COUNT_ALWAYS)
BODY(split, engine, false, COUNT_ASKED)
BODY(packed, never, true, COUNT_NEVER)
BODY(packed, always, true, COUNT_ALWAYS)
BODY(packed, engine, true, COUNT_ASKED)

VARIANT(split, never, never, false)
VARIANT(split, always, always, false)
VARIANT(split, flag_off, engine, false)
VARIANT(split, flag_on, engine, true)
VARIANT(packed, never, never, false)
VARIANT(packed, always, always, false)
VARIANT(packed, flag_off, engine, false)
VARIANT(packed, flag_on, engine, true)

static const struct variant variants[] = {
	{ "no wrap count", "split", false, run_split_never },
	{ "counting always", "split", false, run_split_always },
	{ "run-time flag, off (the engine)", "split", false, run_split_flag_off },
	{ "run-time flag, on (the engine)", "split", false, run_split_flag_on },
	{ "no wrap count", "packed", false, run_packed_never },
	{ "counting always", "packed", false, run_packed_always },
	{ "run-time flag, off (the engine)", "packed", false, run_packed_flag_off },
	{ "run-time flag, on (the engine)", "packed", false, run_packed_flag_on },
	{ NULL, NULL, false, NULL },
};

const struct experiment exp_wrap_poll = {
	.name = "wrap-poll",
	.title = "driver loop with and without a wrap count for its poll; one thread",
	.unit = "ns per buffer",
	.published = "6.09 s without, 8.01 s counting always, 6.14 s and 6.15 s behind a run-time\n"
		     "flag that is off and on",
	.count = 5000000,
	.split = true,
	.single = true,
	.variants = variants,
};
