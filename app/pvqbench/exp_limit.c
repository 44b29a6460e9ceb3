/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "arena.h"
#include "experiments.h"
#include "packed.h"
#include "split.h"

enum {
	/* A round trip takes as long as many buffers. */
	BUFFERS_PER_TRIP = 16,
};

/* Two words, each on a line of its own, each written by one side only. */
struct trip {
	uint64_t trips;
	uint64_t *there, *back;
	uint64_t wrong;
};

static void
packed_drive(void *arg)
{
	struct loops *loops = arg;

	loops_drive(loops, loops->driver, packed_put, packed_publish, packed_used);
}

static void
packed_serve_all(void *arg)
{
	struct loops *loops = arg;

	loops_serve(loops, loops->device, packed_serve);
}

static void
run_packed(const struct params *params, struct sample *sample)
{
	struct packed *p = packed_new(params, false);
	struct loops loops = { .params = params, .driver = p, .device = p };

	threads_pair(params, packed_drive, packed_serve_all, &loops, sample);
	loops_result(&loops, sample);
	packed_free(p);
}

static void
split_drive(void *arg)
{
	struct loops *loops = arg;

	loops_drive(loops, loops->driver, split_put, split_publish, split_used);
}

static void
split_serve_all(void *arg)
{
	struct loops *loops = arg;

	loops_serve(loops, loops->device, split_serve);
}

static void
run_split(const struct params *params, struct sample *sample)
{
	struct split *s = split_new(params, false);
	struct loops loops = { .params = params, .driver = s, .device = s };

	threads_pair(params, split_drive, split_serve_all, &loops, sample);
	loops_result(&loops, sample);
	split_free(s);
}

/* Wait until the word is another than @p old. */
static uint64_t
wait_change(const uint64_t *word, uint64_t old)
{
	struct threads_idle idle = { 0 };
	uint64_t now;

	while ((now = pvq_load_acquire(word)) == old)
		threads_wait(&idle);
	return now;
}

static void
trip_near(void *arg)
{
	struct trip *trip = arg;

	for (uint64_t i = 1; i <= trip->trips; i++) {
		pvq_store_release(trip->there, i);
		trip->wrong += wait_change(trip->back, i - 1) != i;
	}
}

static void
trip_far(void *arg)
{
	struct trip *trip = arg;

	for (uint64_t i = 0; i < trip->trips;) {
		i = wait_change(trip->there, i);
		pvq_store_release(trip->back, i);
	}
}

static void
run_trip(const struct params *params, struct sample *sample)
{
	struct trip trip = { .trips = params->count / BUFFERS_PER_TRIP + 1 };

	arena_reset();
	trip.there = arena_get(sizeof(*trip.there));
	trip.back = arena_get(sizeof(*trip.back));
	threads_pair(params, trip_near, trip_far, &trip, sample);
	sample->done = trip.trips;
	sample->wrong = trip.wrong;
}

static const struct variant variants[] = {
	{ "packed ring", "no payload", false, run_packed },
	{ "split ring", "no payload", false, run_split },
	{ "a cache line there and another back", "round trip", false, run_trip },
	{ NULL, NULL, false, NULL },
};

const struct experiment exp_limit = {
	.name = "limit",
	.title = "the ring protocol with no payload, and the raw round trip of a cache line",
	.unit = "ns per buffer or round trip",
	.published = "nothing: it is the ceiling that every other figure is set against",
	.count = 5000000,
	.split = true,
	.variants = variants,
};
