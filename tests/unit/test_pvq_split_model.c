/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Split ring, both halves, step by step in a random order, beside a model that knows nothing of
 * descriptors. A buffer's shape and addresses follow from its number.
 */

#include <errno.h>

#include "pvq_split_rig.h"

#define MAX_SEGS 5

struct queue {
	uint64_t item[PVQ_MAX_SIZE];
	uint32_t first, n;
};

static struct split_rig *rig;
static uint64_t state, sent, published, served, received;
static uint32_t slots;            /* that are not free */
static struct queue pushed, used; /* numbers: not flushed yet, and not received yet */
static struct {
	uint64_t seq;
	uint16_t id;
} taken[PVQ_MAX_SIZE];
static uint32_t ntaken;

static void
enqueue(struct queue *q, uint64_t item)
{
	q->item[(q->first + q->n++) % PVQ_MAX_SIZE] = item;
}

static uint64_t
dequeue(struct queue *q)
{
	q->n--;
	return q->item[q->first++ % PVQ_MAX_SIZE];
}

static uint16_t
shape(uint64_t seq, struct pvq_seg *segs)
{
	uint64_t r = seq + 1;
	uint16_t most = rig->size < MAX_SEGS ? rig->size : MAX_SEGS;
	uint16_t n, nread;

	pvq_rand(&r);
	n = 1 + pvq_rand_below(&r, most);
	nread = pvq_rand_below(&r, n + 1);
	for (uint16_t i = 0; i < n; i++)
		segs[i] = (struct pvq_seg){ seq * MAX_SEGS + i, 100, i >= nread };
	return n;
}

static uint16_t
slots_of(uint64_t seq)
{
	struct pvq_seg segs[MAX_SEGS];

	return split_rig_slots(rig, shape(seq, segs));
}

static void
step_put(void)
{
	struct pvq_seg segs[MAX_SEGS];
	uint16_t n = shape(sent, segs), ndesc = split_rig_slots(rig, n);
	int ret = pvq_split_put(&rig->drv, segs, n, split_rig_token(sent));

	CU_ASSERT_EQUAL_FATAL(ret, slots + ndesc > rig->size ? -ENOSPC : 0);
	if (ret == 0) {
		sent++;
		slots += ndesc;
	}
	CU_ASSERT_EQUAL_FATAL(pvq_split_capacity(&rig->drv), rig->size - slots);
}

static void
step_publish(void)
{
	pvq_split_publish(&rig->drv);
	published = sent;
	pvq_split_must_kick(&rig->drv);
}

static void
step_take(void)
{
	struct pvq_seg want[MAX_SEGS];
	struct pvq_chain chain;
	int ret = split_rig_take(rig, &chain);

	CU_ASSERT_EQUAL_FATAL(ret, served < published);
	if (ret == 0)
		return;
	CU_ASSERT_EQUAL_FATAL(chain.nsegs, shape(served, want));
	for (uint16_t i = 0; i < chain.nsegs; i++)
		CU_ASSERT_FATAL(chain.segs[i].addr == want[i].addr &&
				chain.segs[i].write == want[i].write);
	taken[ntaken].id = chain.id;
	taken[ntaken++].seq = served++;
}

static void
step_push(void)
{
	uint32_t i;

	if (ntaken == 0)
		return;
	i = pvq_rand_below(&state, ntaken);
	pvq_split_push_used(&rig->dev, taken[i].id, 0);
	enqueue(&pushed, taken[i].seq);
	taken[i] = taken[--ntaken];
}

static void
step_flush(void)
{
	pvq_split_flush_used(&rig->dev, NULL);
	while (pushed.n > 0)
		enqueue(&used, dequeue(&pushed));
	pvq_split_must_call(&rig->dev);
}

static void
step_receive(void)
{
	uint32_t position = pvq_split_position(&rig->drv), len;
	void *token;
	uint64_t seq;

	CU_ASSERT_EQUAL_FATAL(pvq_split_poll(&rig->drv, position), used.n > 0);
	token = pvq_split_next_used(&rig->drv, &len);
	CU_ASSERT_EQUAL_FATAL(token != NULL, used.n > 0);
	if (token == NULL)
		return;
	seq = dequeue(&used);
	CU_ASSERT_PTR_EQUAL_FATAL(token, split_rig_token(seq));
	slots -= slots_of(seq);
	received++;
	CU_ASSERT_TRUE_FATAL(pvq_split_poll(&rig->drv, position));
}

static void
step_event(void)
{
	switch (pvq_rand_below(&state, 4)) {
	case 0:
		pvq_split_disable_cb(&rig->drv);
		break;
	case 1:
		CU_ASSERT_EQUAL_FATAL(pvq_split_enable_cb(&rig->drv), used.n == 0);
		break;
	case 2:
		CU_ASSERT_EQUAL_FATAL(pvq_split_enable_kick(&rig->dev, NULL), published == served);
		break;
	default:
		pvq_split_disable_kick(&rig->dev, NULL);
	}
}

static void (*const steps[])(void) = { step_put, step_publish, step_take, step_push, step_flush,
	step_receive, step_event };

/* Each step is done some times in a row, so that the ring runs full, and empty. */
static void
run(struct split_rig *r)
{
	rig = r;
	state = 1 + r->size + r->flags * 77;
	sent = published = served = received = 0;
	slots = ntaken = 0;
	pushed = used = (struct queue){ .n = 0 };
	r->drv.use_wrap_counter = r->size < 16;
	while (received < (r->size == 16 ? 70000 : 10000)) {
		unsigned int step = pvq_rand_below(&state, sizeof(steps) / sizeof(steps[0]));

		for (uint32_t n = pvq_rand_below(&state, 24); n > 0; n--)
			steps[step]();
	}
}

static void
random_steps(void)
{
	split_rig_each(run);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "random steps, all sizes, beyond the 65,536th buffer", random_steps },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq split model", tests);
}
