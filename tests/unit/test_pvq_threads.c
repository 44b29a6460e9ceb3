/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A driver that runs at the same time as the device. Each test is bounded in its rounds, and
 * nothing it asserts depends on time.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "pvq_driver.h"

#define MEM_ADDR 0x10000

static struct pvq_pair p;
static bool asked; /* for one more buffer */

static pthread_t
start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) != 0)
		abort();
	return thread;
}

/* PT01. Each buffer carries a sequence number that the device answers. They lie by slot:
 * the question, the answer, and an indirect table of two.
 */
#define SOAK_SIZE 61
#define SOAK_BUFFERS 200000

struct letter {
	struct vring_packed_desc table[2];
	uint64_t question, answer;
};

static struct letter *
letter_of(uint64_t pos)
{
	return (struct letter *)(void *)p.region[0].host + pos % SOAK_SIZE;
}

/* By turns a table, a chain of two, and a question without room for an answer. */
static void
post_letter(uint64_t seq)
{
	struct letter *l = letter_of(p.drv.avail);
	uint64_t at = MEM_ADDR + ((uint8_t *)l - p.region[0].host);
	const struct pvq_seg seg[2] = {
		{ at + offsetof(struct letter, question), 8, false },
		{ at + offsetof(struct letter, answer), 8, true },
	};
	const struct pvq_seg table = { at, sizeof(l->table), false };

	l->question = seq;
	l->answer = 0;
	l->table[0] = (struct vring_packed_desc){ .addr = seg[0].addr, .len = 8 };
	l->table[1] = (struct vring_packed_desc){
		.addr = seg[1].addr, .len = 8, .flags = VRING_DESC_F_WRITE
	};
	if (seq % 3 == 0)
		pvq_driver_add(&p.drv, &table, 1, VRING_DESC_F_INDIRECT);
	else
		pvq_driver_add(&p.drv, seg, seq % 3, 0);
}

static void *
soak_driver(void *arg)
{
	uint64_t posted = 0, answered = 0, *wrong = arg;

	while (answered < SOAK_BUFFERS) {
		uint64_t pos = p.drv.used;
		struct pvq_driver_used used;

		if (posted < SOAK_BUFFERS && p.drv.avail - p.drv.used <= SOAK_SIZE - 2)
			post_letter(posted++);
		if (!pvq_driver_poll(&p.drv, &used)) {
			sched_yield();
			continue;
		}
		*wrong += used.ndesc != (answered % 3 == 2 ? 2 : 1);
		if (answered % 3 == 1)
			*wrong += used.len != 0;
		else
			*wrong += used.len != 8 || letter_of(pos)->answer != ~answered;
		answered++;
	}
	return NULL;
}

/* Answer one buffer. @return whether it was the one with number @p seq */
static bool
answer(const struct pvq_seg *seg, unsigned int nsegs, uint64_t seq)
{
	const uint64_t *question = pvq_mem_whole(&p.dev.mem, seg[0].addr, 8);
	uint64_t *room = nsegs == 2 ? pvq_mem_whole(&p.dev.mem, seg[1].addr, 8) : NULL;

	if (question == NULL || *question != seq || seg[0].len != 8 || seg[0].write)
		return false;
	if (nsegs == 2) {
		if (room == NULL || !seg[1].write)
			return false;
		*room = ~seq;
	}
	return true;
}

/* Whatever is there, by single step or batch, up to number @p seq. @return the next number */
static uint64_t
soak_device(uint64_t seq)
{
	struct pvq_single got[4];
	struct pvq_chain chain;
	uint16_t n = pvq_packed_next_singles(&p.dev, got, 4, false);

	for (uint16_t i = 0; i < n; i++, seq++) {
		const struct pvq_seg seg = { got[i].addr, got[i].len, false };

		CU_ASSERT_FATAL(seq % 3 == 1 && answer(&seg, 1, seq));
		pvq_packed_push_used(&p.dev, got[i].id, 0, 1);
	}
	if (pvq_pair_take(&p, &chain) != 0) {
		CU_ASSERT_FATAL(chain.nsegs == (seq % 3 == 1 ? 1 : 2));
		CU_ASSERT_FATAL(answer(chain.segs, chain.nsegs, seq));
		pvq_packed_push_used(&p.dev, chain.id, seq % 3 == 1 ? 0 : 8, chain.ndesc);
		seq++;
	} else if (n == 0) {
		sched_yield();
	}
	/* several at once as often as not */
	if (n == 0 || seq % 4 == 0)
		pvq_packed_flush_used(&p.dev, NULL);
	return seq;
}

static void
pt01_sequence_in_every_buffer(void)
{
	uint64_t wrong = 0, seq = 0;
	pthread_t thread;

	pvq_pair_init(&p, SOAK_SIZE, 0, false);
	pvq_pair_add_memory(&p, MEM_ADDR, SOAK_SIZE * sizeof(struct letter));
	thread = start(soak_driver, &wrong);
	while (seq < SOAK_BUFFERS)
		seq = soak_device(seq);
	pvq_packed_flush_used(&p.dev, NULL);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(wrong, 0);
	pvq_pair_fini(&p);
}

/* PT05. Loops that do nothing but ask end when there is an answer. */
static void *
pt05_driver(void *arg)
{
	const struct pvq_seg seg = { 0, 60, false };

	for (unsigned int i = 0; i < 3; i++) {
		while (!pvq_load_acquire(&asked))
			sched_yield();
		pvq_store(&asked, false);
		sched_yield();
		pvq_driver_add(&p.drv, &seg, 1, 0);
	}
	return arg;
}

static void
pt05_poll_loops_end(void)
{
	struct pvq_single single;
	struct pvq_chain chain;
	pthread_t thread;

	pvq_pair_init(&p, 4, 0, false);
	thread = start(pt05_driver, NULL);
	pvq_store_release(&asked, true);
	while (pvq_packed_next_singles(&p.dev, &single, 1, false) == 0)
		;
	pvq_store_release(&asked, true);
	while (pvq_pair_take(&p, &chain) == 0)
		;
	pvq_store_release(&asked, true);
	while (pvq_packed_enable_kick(&p.dev, NULL))
		;
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(p.dev.taken, 2);
	pvq_pair_fini(&p);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "PT01 a sequence in every buffer", pt01_sequence_in_every_buffer },
		{ "PT05 poll loops end", pt05_poll_loops_end },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq threads", tests);
}
