/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, both halves, step by step in a random order, beside a model that knows nothing of
 * slots: queues of buffer numbers.
 */

#include <errno.h>
#include <stdlib.h>

#include "pvq_packed_rig.h"

struct queue {
	uint64_t seq[PVQ_MAX_SIZE];
	uint32_t first, n;
};

/* A buffer that the device has taken. */
struct taken {
	uint64_t seq;
	uint32_t len;
	uint16_t id, ndesc;
};

static struct pvq_rig *rig;
static uint16_t max; /* segments of a buffer */
static uint64_t state;
static uint64_t sent, published, served, received;
static uint32_t slots; /* that are not free */
static struct taken taken[PVQ_MAX_SIZE];
static uint32_t ntaken;
static struct queue pushed, used; /* not flushed yet, and not received yet */

static void
enqueue(struct queue *q, uint64_t seq)
{
	q->seq[(q->first + q->n++) % PVQ_MAX_SIZE] = seq;
}

static uint64_t
dequeue(struct queue *q)
{
	q->n--;
	return q->seq[q->first++ % PVQ_MAX_SIZE];
}

static void
step_put(void)
{
	uint16_t ndesc = pvq_rig_sent_slots(rig, sent, max);
	int ret = pvq_rig_send(rig, sent, max);

	CU_ASSERT_EQUAL_FATAL(ret, slots + ndesc > rig->size ? -ENOSPC : 0);
	if (ret == 0) {
		sent++;
		slots += ndesc;
	}
	CU_ASSERT_EQUAL_FATAL(pvq_packed_capacity(&rig->drv), rig->size - slots);
}

static void
step_publish(void)
{
	pvq_packed_publish(&rig->drv);
	published = sent;
	if (pvq_rand_below(&state, 4) == 0)
		pvq_packed_must_kick(&rig->drv);
}

static void
step_take(void)
{
	struct pvq_chain chain;
	int ret = pvq_rig_take(rig, &chain);
	int64_t len;

	CU_ASSERT_EQUAL_FATAL(ret, served < published);
	if (ret == 0)
		return;
	len = pvq_rig_answer(rig, served, max, &chain);
	CU_ASSERT_FATAL(len >= 0);
	taken[ntaken++] = (struct taken){ served++, len, chain.id, chain.ndesc };
}

/* In order: the oldest; else any one. */
static void
step_push(void)
{
	uint32_t i = rig->flags & RIG_IN_ORDER ? 0 : pvq_rand_below(&state, ntaken + !ntaken);
	struct taken t = taken[i];

	if (ntaken == 0)
		return;
	ntaken--;
	if (rig->flags & RIG_IN_ORDER) {
		for (uint32_t j = 0; j < ntaken; j++)
			taken[j] = taken[j + 1];
		pvq_packed_push_in_order(&rig->dev, t.id, t.len, t.ndesc);
	} else {
		taken[i] = taken[ntaken];
		pvq_packed_push_used(&rig->dev, t.id, t.len, t.ndesc);
	}
	enqueue(&pushed, t.seq);
}

static void
step_flush(void)
{
	pvq_packed_flush_used(&rig->dev, NULL);
	while (pushed.n > 0)
		enqueue(&used, dequeue(&pushed));
	if (pvq_rand_below(&state, 4) == 0)
		pvq_packed_must_call(&rig->dev);
}

static void
step_receive(void)
{
	uint32_t position = pvq_packed_position(&rig->drv);
	uint64_t seq;
	int ret;

	CU_ASSERT_EQUAL_FATAL(pvq_packed_poll(&rig->drv, position), used.n > 0);
	ret = pvq_rig_receive(rig, max, &seq);
	CU_ASSERT_EQUAL_FATAL(ret, used.n > 0);
	if (ret == 0)
		return;
	CU_ASSERT_EQUAL_FATAL(seq, dequeue(&used));
	slots -= pvq_rig_sent_slots(rig, seq, max);
	received++;
	CU_ASSERT_EQUAL_FATAL(pvq_packed_capacity(&rig->drv), rig->size - slots);
	CU_ASSERT_TRUE_FATAL(pvq_packed_poll(&rig->drv, position));
}

static void
step_event(void)
{
	bool more = published > served;

	switch (pvq_rand_below(&state, 5)) {
	case 0:
		pvq_packed_disable_cb(&rig->drv);
		break;
	case 1:
		CU_ASSERT_EQUAL_FATAL(pvq_packed_enable_cb(&rig->drv), used.n == 0);
		break;
	case 2:
		CU_ASSERT_EQUAL_FATAL(pvq_packed_enable_cb_delayed(&rig->drv), used.n == 0);
		break;
	case 3:
		CU_ASSERT_EQUAL_FATAL(pvq_packed_enable_kick(&rig->dev, NULL), !more);
		break;
	default:
		pvq_packed_disable_kick(&rig->dev, NULL);
	}
}

/* Each of these is done some times in a row, so that the ring runs full, and empty. */
static void (*const steps[])(void) = { step_put, step_publish, step_take, step_push, step_flush,
	step_receive, step_event };

static void
run(struct pvq_rig *r, uint16_t max_segs, uint64_t count)
{
	rig = r;
	max = r->size < max_segs ? r->size : max_segs;
	state = 1 + r->size + r->flags * 77 + r->start;
	sent = published = served = received = 0;
	slots = ntaken = 0;
	pushed = used = (struct queue){ .n = 0 };
	r->drv.use_wrap_counter = r->size < 16;
	while (received < count) {
		unsigned int step = pvq_rand_below(&state, sizeof(steps) / sizeof(steps[0]));

		for (uint32_t n = pvq_rand_below(&state, 24); n > 0; n--)
			steps[step]();
	}
}

static void
some_buffers(struct pvq_rig *r)
{
	run(r, RIG_MAX_SEGS, r->size < 32768 ? 3 * (r->size + 700u) : 10000);
}

static void
random_steps(void)
{
	pvq_rig_each(some_buffers);
}

/* A count of 16 bits does not come round where the ring does. */
static void
pk05_a_thousand_slots(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
		for (uint16_t segs = 1; segs <= 3; segs += 2) {
			struct pvq_rig r;

			pvq_rig_init(&r, 1000, 0, flags);
			run(&r, segs, 70000);
			pvq_rig_fini(&r);
		}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "random steps, all sizes", random_steps },
		{ "PK05 buffers beyond the 65,536th", pk05_a_thousand_slots },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: model", tests);
}
