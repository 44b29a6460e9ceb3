/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Split ring: kick and call suppression of both halves, and dirty marks. */

#include <stdlib.h>

#include "pvq_split_rig.h"

static struct split_rig rig;

static uint16_t *
used_event(void)
{
	return pvq_split_used_event(rig.avail, rig.size);
}

static uint16_t *
avail_event(void)
{
	return pvq_split_avail_event(rig.used, rig.size);
}

static void
add(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_EQUAL_FATAL(pvq_split_add(&rig.drv, split_rig_segs(1, 0), 1, &rig), 0);
}

static void
serve(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		split_rig_serve(&rig, 0);
}

static void
reap(unsigned int n)
{
	uint32_t len;

	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(pvq_split_next_used(&rig.drv, &len));
}

/* Both sides have been asked once, so that only what comes now counts. */
static void
start(uint16_t size, uint16_t base, unsigned int flags)
{
	split_rig_init(&rig, size, base, flags);
	if (flags & SPLIT_EVENT_IDX)
		*avail_event() = *used_event() = base + 77; /* of long ago */
	add(1);
	CU_ASSERT_TRUE(pvq_split_must_kick(&rig.drv)); /* EV03: the first always */
	serve(1);
	CU_ASSERT_TRUE(pvq_split_must_call(&rig.dev));
	reap(1);
	CU_ASSERT_FALSE(pvq_split_must_kick(&rig.drv)); /* nothing new */
	CU_ASSERT_FALSE(pvq_split_must_call(&rig.dev));
}

static void
ev11_passed(void)
{
	static const struct {
		uint16_t old, now, event;
		bool passed;
	} cases[] = {
		{ 5, 6, 4, false },
		{ 5, 6, 5, true },
		{ 5, 6, 6, false },
		{ 65535, 1, 65534, false },
		{ 65535, 1, 65535, true },
		{ 65535, 1, 0, true },
		{ 65535, 1, 1, false },
		{ 10, 10, 9, false },
		{ 10, 10, 10, false },
		{ 0, 65535, 65534, true },
		{ 0, 65535, 65535, false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(pvq_split_event_passed(cases[i].event, cases[i].now,
						(uint16_t)(cases[i].now - cases[i].old)),
				cases[i].passed);
	/* More than a lap: whatever the event. */
	CU_ASSERT_TRUE(pvq_split_event_passed(7, 7, 65536));
	CU_ASSERT_TRUE(pvq_split_event_passed(6, 7, UINT64_C(0x100000001)));
}

/* Every event index, against batches of every length: exactly when it is in the batch. */
static void
by_event_index(void)
{
	for (unsigned int n = 1; n <= 8; n++)
		for (int at = -2; at < 10; at++) {
			start(8, 65530, SPLIT_EVENT_IDX);
			*avail_event() = rig.drv.shadow_avail_idx + at;
			*used_event() = rig.dev.used + at;
			add(n);
			CU_ASSERT_EQUAL(pvq_split_must_kick(&rig.drv), at >= 0 && at < (int)n);
			CU_ASSERT_FALSE(pvq_split_must_kick(&rig.drv));
			serve(n);
			CU_ASSERT_EQUAL(pvq_split_must_call(&rig.dev), at >= 0 && at < (int)n);
			CU_ASSERT_FALSE(pvq_split_must_call(&rig.dev));
			split_rig_fini(&rig);
		}
}

static void
by_flags(void)
{
	start(8, 0, 0);
	pvq_split_disable_kick(&rig.dev, NULL);
	CU_ASSERT_EQUAL(rig.used->flags, VRING_USED_F_NO_NOTIFY);
	pvq_split_disable_cb(&rig.drv);
	CU_ASSERT_EQUAL(rig.avail->flags, VRING_AVAIL_F_NO_INTERRUPT);
	add(1);
	CU_ASSERT_FALSE(pvq_split_must_kick(&rig.drv));
	serve(1);
	CU_ASSERT_FALSE(pvq_split_must_call(&rig.dev));
	reap(1);
	CU_ASSERT_TRUE(pvq_split_enable_kick(&rig.dev, NULL));
	CU_ASSERT_EQUAL(rig.used->flags, 0);
	CU_ASSERT_TRUE(pvq_split_enable_cb(&rig.drv));
	CU_ASSERT_EQUAL(rig.avail->flags, 0);
	add(1);
	CU_ASSERT_TRUE(pvq_split_must_kick(&rig.drv));
	CU_ASSERT_FALSE(pvq_split_enable_kick(&rig.dev, NULL));
	serve(1);
	rig.avail->flags = (uint16_t)~VRING_AVAIL_F_NO_INTERRUPT; /* the others say nothing */
	CU_ASSERT_TRUE(pvq_split_must_call(&rig.dev));
	CU_ASSERT_FALSE(pvq_split_enable_cb(&rig.drv));
	CU_ASSERT_FALSE(pvq_split_enable_cb_delayed(&rig.drv));
	split_rig_fini(&rig);
}

/* A kick or call that was never asked about counts, also after more than a lap of the index. */
static void
more_than_a_lap(void)
{
	start(8, 65530, SPLIT_EVENT_IDX);
	split_rig_pass(&rig, 65536, 1);
	*avail_event() = rig.drv.shadow_avail_idx;
	*used_event() = rig.dev.used;
	CU_ASSERT_TRUE(pvq_split_must_kick(&rig.drv));
	CU_ASSERT_TRUE(pvq_split_must_call(&rig.dev));
	CU_ASSERT_FALSE(pvq_split_must_kick(&rig.drv));
	CU_ASSERT_FALSE(pvq_split_must_call(&rig.dev));
	split_rig_fini(&rig);
}

/* NT07: memory shows each change, though the driver does not read it. */
static void
nt07_disable_and_enable(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		start(8, 65533, i == 0 ? 0 : SPLIT_EVENT_IDX);
		for (unsigned int round = 0; round < 2; round++) {
			pvq_split_disable_cb(&rig.drv);
			pvq_split_disable_cb(&rig.drv);
			CU_ASSERT_EQUAL(rig.avail->flags, i == 0 ? VRING_AVAIL_F_NO_INTERRUPT : 0);
			if (i == 1)
				CU_ASSERT_EQUAL(*used_event(), (uint16_t)(rig.drv.used - 1));
			CU_ASSERT_TRUE(pvq_split_enable_cb(&rig.drv));
			CU_ASSERT_EQUAL(rig.avail->flags, 0);
			if (i == 1)
				CU_ASSERT_EQUAL(*used_event(), rig.drv.used);
		}
		split_rig_fini(&rig);
	}
}

/* With calls on the event follows what is taken back; with calls off it stays behind. */
static void
event_follows(void)
{
	start(8, 65533, SPLIT_EVENT_IDX);
	add(4);
	serve(2);
	CU_ASSERT_EQUAL(*used_event(), 65534);
	reap(2);
	CU_ASSERT_EQUAL(*used_event(), 0);
	pvq_split_disable_cb(&rig.drv);
	serve(2);
	reap(2);
	CU_ASSERT_EQUAL(*used_event(), 65535);
	split_rig_fini(&rig);
}

/* EV05, for a split ring: three quarters of what the device has; it says so when they are used. */
static void
ev05_delayed(void)
{
	for (unsigned int used = 0; used <= 8; used++) {
		start(8, 65533, SPLIT_EVENT_IDX);
		add(8);
		serve(used);
		CU_ASSERT_EQUAL(pvq_split_enable_cb_delayed(&rig.drv), used <= 6);
		CU_ASSERT_EQUAL(*used_event(), (uint16_t)(rig.drv.used + 6));
		pvq_split_must_call(&rig.dev);
		for (unsigned int i = used; i < 8; i++) {
			serve(1);
			CU_ASSERT_EQUAL(pvq_split_must_call(&rig.dev), i == 6);
		}
		split_rig_fini(&rig);
	}
}

static void
enable_kick_by_index(void)
{
	start(8, 65533, SPLIT_EVENT_IDX);
	CU_ASSERT_TRUE(pvq_split_enable_kick(&rig.dev, NULL));
	CU_ASSERT_EQUAL(*avail_event(), 65534);
	pvq_split_disable_kick(&rig.dev, NULL);
	CU_ASSERT_EQUAL(rig.used->flags, 0); /* 2.7.10: with EVENT_IDX flags stay 0 */
	add(3);
	CU_ASSERT_TRUE(pvq_split_must_kick(&rig.drv));
	CU_ASSERT_FALSE(pvq_split_enable_kick(&rig.dev, NULL));
	CU_ASSERT_EQUAL(*avail_event(), 65534); /* the next to take, not the last known of */
	serve(1);
	CU_ASSERT_FALSE(pvq_split_enable_kick(&rig.dev, NULL));
	CU_ASSERT_EQUAL(*avail_event(), 65535);
	split_rig_fini(&rig);
}

/* What is marked, in order, and the used index that the driver saw at the time. */
static struct {
	uint64_t addr, len;
	uint16_t seen;
	uint16_t flags;
} marks[8];
static unsigned int nmarks;

static void
mark(void *arg, uint64_t addr, uint64_t len)
{
	CU_ASSERT_PTR_EQUAL(arg, &rig);
	CU_ASSERT_FATAL(nmarks < 8);
	marks[nmarks].addr = addr;
	marks[nmarks].len = len;
	marks[nmarks].flags = rig.used->flags;
	marks[nmarks++].seen = rig.used->idx;
}

static void
marked(unsigned int i, uint64_t addr, uint64_t len, uint16_t seen)
{
	CU_ASSERT_TRUE(i < nmarks);
	CU_ASSERT_TRUE(marks[i].addr == addr && marks[i].len == len && marks[i].seen == seen);
}

static void
lg_used_ring(void)
{
	const struct pvq_dirty dirty = { mark, &rig };
	const uint64_t ring = SPLIT_USED_ADDR + 4;
	struct pvq_single single[4];

	start(8, 65532, SPLIT_EVENT_IDX);
	add(4);
	nmarks = 0;
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 4, true), 4);
	pvq_split_push_singles(&rig.dev, single, 4, true);
	pvq_split_flush_used(&rig.dev, &dirty);
	/* Entries 65533..65536, over the ring's end; the index before it is seen, and after. */
	CU_ASSERT_EQUAL(nmarks, 4);
	marked(0, ring + 5 * 8, 3 * 8, 65533);
	marked(1, ring, 1 * 8, 65533);
	marked(2, SPLIT_USED_ADDR, 4, 65533);
	marked(3, SPLIT_USED_ADDR + 2, 2, 1);
	nmarks = 0;
	pvq_split_flush_used(&rig.dev, &dirty);
	pvq_split_disable_kick(&rig.dev, &dirty);
	CU_ASSERT_EQUAL(nmarks, 0);
	CU_ASSERT_TRUE(pvq_split_enable_kick(&rig.dev, &dirty));
	CU_ASSERT_EQUAL(nmarks, 1);
	marked(0, ring + 8 * 8, 2, 1);
	split_rig_fini(&rig);

	start(8, 0, 0);
	nmarks = 0;
	pvq_split_disable_kick(&rig.dev, &dirty);
	CU_ASSERT_TRUE(pvq_split_enable_kick(&rig.dev, &dirty));
	CU_ASSERT_EQUAL(nmarks, 2);
	marked(0, SPLIT_USED_ADDR, 2, 1);
	marked(1, SPLIT_USED_ADDR, 2, 1);
	/* The mark comes behind the write. */
	CU_ASSERT_EQUAL(marks[0].flags, VRING_USED_F_NO_NOTIFY);
	CU_ASSERT_EQUAL(marks[1].flags, 0);
	split_rig_fini(&rig);
}

/* SP07, NT13: what is flushed is used when the call returns, and a batch is one call. */
static void
nt13_one_call_a_batch(void)
{
	struct pvq_single single[8];

	start(8, 0, 0);
	add(8);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 8, true), 8);
	pvq_split_push_singles(&rig.dev, single, 8, true);
	pvq_split_flush_used(&rig.dev, NULL);
	CU_ASSERT_EQUAL(rig.used->idx, 9);
	CU_ASSERT_TRUE(pvq_split_must_call(&rig.dev));
	CU_ASSERT_FALSE(pvq_split_must_call(&rig.dev));
	reap(8);
	split_rig_fini(&rig);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "EV11 has it been passed?", ev11_passed },
		{ "EV03 by event index", by_event_index },
		{ "by flags", by_flags },
		{ "more than a lap", more_than_a_lap },
		{ "NT07 disable and enable", nt07_disable_and_enable },
		{ "the event follows", event_follows },
		{ "EV05 delayed", ev05_delayed },
		{ "kicks by event index", enable_kick_by_index },
		{ "LG the used ring is marked", lg_used_ring },
		{ "NT13 one call a batch", nt13_one_call_a_batch },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq split events", tests);
}
