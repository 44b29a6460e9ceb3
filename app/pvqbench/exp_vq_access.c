/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdlib.h>

#include "access.h"
#include "arena.h"
#include "experiments.h"

/* One element at a time, as the first devices did: taken, looked at, given back, shown. */
LOOPS_INLINE unsigned int
serve_each(struct access *a, uint64_t seq, unsigned int max, uint64_t *wrong,
		const struct access_step step)
{
	unsigned int n;

	for (n = 0; n < max && access_any(a, step); n++) {
		uint64_t addr;
		uint32_t len;
		uint16_t head = access_take(a, &addr, &len, step);

		*wrong += len != ACCESS_BUFFER || !access_check(a, addr, seq + n, step);
		access_give(a, head, step);
		*wrong += access_must_call(a, step);
	}
	return n;
}

/* What the engine does for a batch of @p n, counted from outside: entry, two words of a descriptor
 * and a used element for each; the index that shows them, and the driver's flags.
 */
LOOPS_INLINE void
count_engine(struct access *a, bool index_read, unsigned int n)
{
	a->accesses += index_read + (n > 0 ? 4 * n + 2 : 0);
}

LOOPS_INLINE unsigned int
serve_engine(struct access *a, uint64_t seq, unsigned int max, uint64_t *wrong,
		const struct access_step step)
{
	struct split *s = a->ring;
	bool index_read = s->dev.known_avail == s->dev.avail;
	unsigned int n = pvq_split_next_singles(&s->dev, s->singles, (uint16_t)max, false);

	for (unsigned int i = 0; i < n; i++) {
		const struct pvq_single *single = &s->singles[i];

		*wrong += single->len != ACCESS_BUFFER ||
			  !access_check(a, single->addr, seq + i, step);
		pvq_split_push_used(&s->dev, single->id, 0);
	}
	pvq_split_flush_used(&s->dev, NULL);
	*wrong += pvq_split_must_call(&s->dev);
	if (step.counted)
		count_engine(a, index_read, n);
	return n;
}

LOOPS_INLINE unsigned int
serve(void *ring, uint64_t seq, unsigned int max, uint64_t *wrong, const struct access_step step)
{
	return step.engine ? serve_engine(ring, seq, max, wrong, step)
			   : serve_each(ring, seq, max, wrong, step);
}

static bool
put(void *ring, uint64_t seq)
{
	struct access *a = ring;
	uint8_t *buffer = a->buffers + seq % a->ring->drv.size * ACCESS_BUFFER;
	struct pvq_seg seg = { .addr = access_addr(buffer), .len = ACCESS_BUFFER };

	if (pvq_split_capacity(&a->ring->drv) == 0)
		return false;
	pvq_store((uint64_t *)(void *)buffer, seq);
	return pvq_split_put(&a->ring->drv, &seg, 1, loops_token(seq)) == 0;
}

static void
publish(void *ring)
{
	struct access *a = ring;

	pvq_split_publish(&a->ring->drv);
}

static bool
used(void *ring, uint64_t *seq)
{
	struct access *a = ring;
	uint32_t len;
	void *token = pvq_split_next_used(&a->ring->drv, &len);

	if (token == NULL)
		return false;
	*seq = (uintptr_t)token - 1;
	return true;
}

static void
drive(void *arg)
{
	struct loops *loops = arg;

	loops_drive(loops, loops->driver, put, publish, used);
}

/* Four regions, as a virtual machine with memory below and above 4 GB and some more has. */
static void
map(struct access *a)
{
	uint8_t *start;
	size_t size;

	arena_extent(&start, &size);
	for (unsigned int i = 0; i < ACCESS_REGIONS; i++)
		a->regions[i] = (struct pvq_mem_region){
			.addr = UINT64_C(0x100000) * i,
			.size = 0x1000,
			.host = start,
		};
	a->regions[ACCESS_REGIONS - 1].addr = access_addr(start);
	a->regions[ACCESS_REGIONS - 1].size = size;
	if (pvq_mem_init(&a->ring->mem, a->regions, ACCESS_REGIONS) != 0)
		errx(EXIT_FAILURE, "cannot set up a table of regions");
	pvq_mem_cache_init(&a->mem, &a->ring->mem);
	pvq_mem_cache_init(&a->ring->dev.mem, &a->ring->mem);
}

static struct access *
new_access(const struct params *params)
{
	struct split *s = split_new(params, false);
	struct access *a = arena_get(sizeof(*a));

	a->ring = s;
	a->buffers = arena_get(params->ring * ACCESS_BUFFER);
	map(a);
	pvq_split_disable_cb(&s->drv);
	return a;
}

/* Count, on a ring of its own and in this thread alone, so that the count is the same always. */
static void
count(const struct params *params, loops_serve_some serve_some, struct sample *sample)
{
	const uint64_t total = 4 * params->ring;
	struct access *a = new_access(params);
	uint64_t added = 0, served = 0, done = 0, seq;
	struct threads_idle idle = { 0 };

	while (done < total) {
		uint64_t done_before = done;

		for (uint32_t i = 0; i < params->burst && added < total; i++)
			added += put(a, added);
		publish(a);
		if (served < added)
			served += serve_some(
					a, served, (unsigned int)(added - served), &sample->wrong);
		while (used(a, &seq))
			sample->wrong += seq != done++;
		if (done == done_before)
			threads_wait(&idle);
		else
			idle = (struct threads_idle){ 0 };
	}
	sample->extra[0] = (double)a->accesses / (double)total;
	sample->extra[1] = (double)a->translations / (double)total;
	split_free(a->ring);
}

static void
run(const struct params *params, struct sample *sample, void (*serve_all)(void *),
		loops_serve_some serve_counted)
{
	struct loops loops = { .params = params };
	struct access *a;

	count(params, serve_counted, sample);
	a = new_access(params);
	loops.driver = a;
	loops.device = a;
	threads_pair(params, drive, serve_all, &loops, sample);
	sample->wrong += loops.driver_wrong + loops.device_wrong;
	split_free(a->ring);
}

/* A step: its loop to be timed and its loop to be counted, from one body. */
#define STEP(name, ...)                                                                            \
	static unsigned int timed_##name(                                                          \
			void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)               \
	{                                                                                          \
		const struct access_step step = { __VA_ARGS__ };                                   \
                                                                                                   \
		return serve(ring, seq, max, wrong, step);                                         \
	}                                                                                          \
                                                                                                   \
	static unsigned int counted_##name(                                                        \
			void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)               \
	{                                                                                          \
		const struct access_step step = { __VA_ARGS__, .counted = true };                  \
                                                                                                   \
		return serve(ring, seq, max, wrong, step);                                         \
	}                                                                                          \
                                                                                                   \
	static void serve_##name(void *arg)                                                        \
	{                                                                                          \
		struct loops *loops = arg;                                                         \
                                                                                                   \
		loops_serve(loops, loops->device, timed_##name);                                   \
	}                                                                                          \
                                                                                                   \
	static void run_##name(const struct params *params, struct sample *sample)                 \
	{                                                                                          \
		run(params, sample, serve_##name, counted_##name);                                 \
	}

STEP(shared, .used_cached = false)
STEP(used, .used_cached = true)
STEP(avail, .used_cached = true, .avail_cached = true)
STEP(combined, .used_cached = true, .avail_cached = true, .used_combined = true)
STEP(translated, .used_cached = true, .avail_cached = true, .used_combined = true,
		.mem_cached = true)
STEP(batched, .mem_cached = true, .engine = true)

static const struct variant variants[] = {
	{ "every field from shared memory", "split device", false, run_shared },
	{ "and the used index cached", "split device", false, run_used },
	{ "and the available index cached", "split device", false, run_avail },
	{ "and the used element in one store", "split device", false, run_combined },
	{ "and the translation cached", "split device", false, run_translated },
	{ "and in batches (the engine)", "split device", false, run_batched },
	{ NULL, NULL, false, NULL },
};

const struct experiment exp_vq_access = {
	.name = "vq-access",
	.title = "split device: accesses to shared memory taken away step by step",
	.unit = "ns per buffer",
	.published = "15 and more accesses per element at first; 1 -> 1.91 -> 2.04 Mpps",
	.count = 200000,
	.split = true,
	.extras = { "accesses", "translations" },
	.variants = variants,
};
