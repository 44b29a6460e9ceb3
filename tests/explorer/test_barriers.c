/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Barriers A, C and D, step by step; and that nothing shared is read twice, by a driver that
 * rewrites each word as soon as it was read.
 */

#include <errno.h>
#include <string.h>

#include "explore.h"
#include "pvq_driver.h"

#define SIZE 5

static struct pvq_pair p;

/* The number of the step, from @p from on, that is of @p kind; that of its end if none is. */
static unsigned int
find(enum record_kind kind, unsigned int from)
{
	while (from < recording.n && recording.step[from].kind != kind)
		from++;
	return from;
}

static void
check_access(unsigned int step, enum record_kind kind, const void *at, uint8_t size)
{
	CU_ASSERT_FATAL(step < recording.n);
	CU_ASSERT_EQUAL(recording.step[step].kind, kind);
	CU_ASSERT_PTR_EQUAL(recording.step[step].at, at);
	CU_ASSERT_EQUAL(recording.step[step].size, size);
}

/* No byte is loaded twice. */
static void
check_single_loads(void)
{
	for (unsigned int i = 0; i < recording.n; i++) {
		const struct record_step *a = &recording.step[i];

		for (unsigned int j = 0; j < i; j++) {
			const struct record_step *b = &recording.step[j];

			if (a->kind == RECORD_LOAD && b->kind == RECORD_LOAD)
				CU_ASSERT_TRUE(a->at + a->size <= b->at ||
						b->at + b->size <= a->at);
		}
	}
}

/* Make @p n buffers available, of @p ndesc slots each. */
static void
post(unsigned int n, uint16_t ndesc)
{
	struct pvq_seg seg[SIZE];

	for (uint16_t i = 0; i < ndesc; i++)
		seg[i] = (struct pvq_seg){ .addr = 0x1000 + i, .len = 60 + i };
	for (unsigned int i = 0; i < n; i++)
		pvq_driver_add(&p.drv, seg, ndesc, 0);
}

static uint64_t *
word_of(uint64_t pos)
{
	return pvq_packed_word(pvq_driver_desc(&p.drv, pos));
}

/* Overwrite what was just read with another chain, an endless one. */
static void
rewrite(uint8_t *at, uint8_t size)
{
	const uint16_t flags = 0xffff & ~VRING_DESC_F_INDIRECT;
	const uint64_t endless = pvq_packed_word_make(0xbad, 0xbad, flags);

	memcpy(at, &endless, size);
}

static void
check_chain(const struct pvq_chain *chain, uint16_t ndesc, uint16_t id)
{
	CU_ASSERT_TRUE(chain->ndesc == ndesc && chain->nsegs == ndesc && chain->id == id);
	for (unsigned int i = 0; i < chain->nsegs; i++) {
		CU_ASSERT_EQUAL(chain->segs[i].addr, 0x1000 + i);
		CU_ASSERT_EQUAL(chain->segs[i].len, 60 + i);
		CU_ASSERT_FALSE(chain->segs[i].write);
	}
}

static void
a_next_avail(void)
{
	for (uint64_t start = 0; start < 2 * SIZE; start++) {
		for (uint16_t ndesc = 1; ndesc <= SIZE; ndesc++) {
			struct pvq_chain chain;
			int ret;

			pvq_pair_init(&p, SIZE, start, false);
			post(1, ndesc);
			record_loaded = rewrite;
			record_begin();
			ret = pvq_pair_take(&p, &chain);
			record_end();
			record_loaded = NULL;
			CU_ASSERT_EQUAL_FATAL(ret, 1);
			check_chain(&chain, ndesc, SIZE - 1);
			/* the head's word, then the barrier, then the rest */
			check_access(0, RECORD_LOAD, word_of(start), 8);
			CU_ASSERT_TRUE(recording.step[0].ordered ||
					find(RECORD_READ_BARRIER, 0) == 1);
			CU_ASSERT_EQUAL(record_count(RECORD_LOAD), 2u * ndesc);
			CU_ASSERT_EQUAL(record_count(RECORD_STORE), 0);
			check_single_loads();
			pvq_pair_fini(&p);
		}
	}
}

static void
a_nothing_available(void)
{
	struct pvq_single single;
	struct pvq_chain chain;

	pvq_pair_init(&p, SIZE, 7, false);
	record_begin();
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 0);
	CU_ASSERT_EQUAL(pvq_packed_next_singles(&p.dev, &single, 1, false), 0);
	record_end();
	CU_ASSERT_EQUAL(record_count(RECORD_LOAD), 2);
	for (unsigned int i = 0; i < recording.n; i++)
		if (recording.step[i].kind == RECORD_LOAD)
			check_access(i, RECORD_LOAD, word_of(7), 8);
	pvq_pair_fini(&p);
}

static void
a_next_singles(void)
{
	for (unsigned int n = 1; n <= SIZE; n++) {
		struct pvq_single got[SIZE];
		unsigned int barrier;
		uint16_t ret;

		pvq_pair_init(&p, SIZE, SIZE, false);
		post(n, 1);
		record_loaded = rewrite;
		record_begin();
		ret = pvq_packed_next_singles(&p.dev, got, SIZE, false);
		record_end();
		record_loaded = NULL;
		CU_ASSERT_EQUAL_FATAL(ret, n);
		for (unsigned int i = 0; i < n; i++)
			CU_ASSERT_TRUE(got[i].addr == 0x1000 && got[i].len == 60 &&
					got[i].id == SIZE - 1 - i);
		check_single_loads();
		/* no address before the barrier that follows its word */
		barrier = find(RECORD_READ_BARRIER, 0);
		for (unsigned int i = 0; i < recording.n; i++)
			if (recording.step[i].kind == RECORD_LOAD)
				CU_ASSERT_EQUAL((uintptr_t)recording.step[i].at % 16 == 0,
						i > barrier);
		pvq_pair_fini(&p);
	}
}

/* Used words, the fence, one load of the whole event word. */
static void
c_must_call(void)
{
	for (unsigned int n = 1; n <= SIZE; n++) {
		unsigned int fence;

		pvq_pair_init(&p, SIZE, 3, true);
		post(n, 1);
		for (unsigned int i = 0; i < n; i++) {
			struct pvq_chain chain;

			CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&p, &chain), 1);
			pvq_packed_push_used(&p.dev, chain.id, 0, 1);
		}
		record_begin();
		pvq_packed_flush_used(&p.dev, NULL);
		CU_ASSERT_TRUE(pvq_packed_must_call(&p.dev));
		record_end();
		fence = find(RECORD_FULL_FENCE, 0);
		CU_ASSERT_EQUAL(fence, recording.n - 2);
		CU_ASSERT_EQUAL(find(RECORD_LOAD, 0), fence + 1);
		check_access(fence - 1, RECORD_STORE, word_of(3), 8);
		check_access(fence + 1, RECORD_LOAD, p.drv.driver_event, 4);
		pvq_pair_fini(&p);
	}
}

/* The event word as one, the fence, one load of the next slot's word. */
static void
d_enable_kick(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		bool waiting = i / 2;

		pvq_pair_init(&p, SIZE, 2 * SIZE - 1, i % 2);
		if (waiting)
			post(1, 1);
		record_begin();
		CU_ASSERT_EQUAL(pvq_packed_enable_kick(&p.dev, NULL), !waiting);
		record_end();
		CU_ASSERT_EQUAL_FATAL(recording.n, 3);
		check_access(0, RECORD_STORE, p.drv.device_event, 4);
		CU_ASSERT_EQUAL(recording.step[1].kind, RECORD_FULL_FENCE);
		check_access(2, RECORD_LOAD, word_of(2 * SIZE - 1), 8);
		record_begin();
		pvq_packed_disable_kick(&p.dev, NULL);
		record_end();
		CU_ASSERT_EQUAL(recording.n, 1);
		check_access(0, RECORD_STORE, p.drv.device_event, 4);
		pvq_pair_fini(&p);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "A: next_avail reads on after its barrier, each word once", a_next_avail },
		{ "A: next_singles reads on after its barrier, each word once", a_next_singles },
		{ "A: one load tells that nothing is available", a_nothing_available },
		{ "C: must_call asks after its fence", c_must_call },
		{ "D: enable_kick looks after its fence", d_enable_kick },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("explorer: barriers", tests);
}
