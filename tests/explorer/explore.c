/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdlib.h>
#include <string.h>

#include "explore.h"

struct recording recording;
void (*record_loaded)(uint8_t *at, uint8_t size);
static bool recorded; /* is what is done now */
static unsigned int epoch;

void
record_begin(void)
{
	recording.n = 0;
	recorded = true;
	epoch = 0;
}

void
record_end(void)
{
	recorded = false;
}

static struct record_step *
record(enum record_kind kind, void *at, uint8_t size, bool ordered)
{
	struct record_step *s = &recording.step[recording.n++];

	if (recording.n == EXPLORE_MAX_STEPS)
		abort();
	*s = (struct record_step){
		.kind = kind, .epoch = epoch, .at = at, .size = size, .ordered = ordered
	};
	return s;
}

void
record_store(void *at, uint64_t value, uint8_t size, bool release)
{
	if (recorded) {
		struct record_step *s = record(RECORD_STORE, at, size, release);

		memcpy(s->before, at, size);
		memcpy(s->after, &value, size);
	}
	memcpy(at, &value, size);
}

void
record_load(const void *at, uint8_t size, bool acquire)
{
	if (!recorded)
		return;
	record(RECORD_LOAD, (void *)(uintptr_t)at, size, acquire);
	if (record_loaded != NULL)
		record_loaded((uint8_t *)(uintptr_t)at, size);
}

void
record_barrier(enum record_kind kind)
{
	if (!recorded)
		return;
	record(kind, NULL, 0, false);
	epoch += kind != RECORD_READ_BARRIER;
}

unsigned int
record_count(enum record_kind kind)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < recording.n; i++)
		n += recording.step[i].kind == kind;
	return n;
}

/* The stores of a recording; bit i of a set stands for store i. */
struct search {
	const struct record_step *store[EXPLORE_MAX_STEPS];
	uint64_t needs[EXPLORE_MAX_STEPS]; /* stores that arrive before it */
	unsigned int n;
	bool (*reader)(const void *arg);
	const void *arg;
	struct explored result;
};

static bool
arrives_after(const struct record_step *later, const struct record_step *earlier)
{
	return earlier->epoch < later->epoch || later->ordered ||
	       (earlier->at < later->at + later->size && later->at < earlier->at + earlier->size);
}

/* Every image in which @p seen of the stores before store @p i have arrived. */
static void
show(struct search *search, unsigned int i, uint64_t seen)
{
	const struct record_step *s = search->store[i];

	if (i == search->n) {
		search->result.images++;
		search->result.bad += !search->reader(search->arg);
		return;
	}
	show(search, i + 1, seen);
	if ((search->needs[i] & ~seen) != 0)
		return;
	memcpy(s->at, s->after, s->size);
	show(search, i + 1, seen | UINT64_C(1) << i);
	memcpy(s->at, s->before, s->size);
}

struct explored
explore(bool (*reader)(const void *arg), const void *arg)
{
	struct search search = { .reader = reader, .arg = arg };

	for (unsigned int i = 0; i < recording.n; i++) {
		const struct record_step *s = &recording.step[i];

		if (s->kind != RECORD_STORE)
			continue;
		for (unsigned int j = 0; j < search.n; j++)
			if (arrives_after(s, search.store[j]))
				search.needs[search.n] |= UINT64_C(1) << j;
		search.store[search.n++] = s;
	}
	for (unsigned int i = search.n; i-- > 0;)
		memcpy(search.store[i]->at, search.store[i]->before, search.store[i]->size);
	show(&search, 0, 0);
	for (unsigned int i = 0; i < search.n; i++)
		memcpy(search.store[i]->at, search.store[i]->after, search.store[i]->size);
	return search.result;
}
