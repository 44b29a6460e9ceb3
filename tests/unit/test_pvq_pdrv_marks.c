/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, device's half: dirty marks (LG), and where a ring is looked up. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_packed_rig.h"

#define MAX_MARKS 64

/* What is marked, and whether the driver could see the batch by then. */
struct marks {
	struct {
		uint64_t addr, len;
		bool shown;
	} mark[MAX_MARKS];
	unsigned int n;
};

static struct pvq_rig rig;
static struct marks marks;

static bool
is_shown(void)
{
	uint64_t word = pvq_load(pvq_packed_word(&rig.desc[rig.drv.used.idx]));

	return pvq_packed_is_used(word, rig.drv.used.wrap);
}

static void
record(void *arg, uint64_t addr, uint64_t len)
{
	struct marks *m = arg;

	CU_ASSERT_FATAL(m->n < MAX_MARKS && len > 0);
	m->mark[m->n].addr = addr;
	m->mark[m->n].len = len;
	m->mark[m->n++].shown = is_shown();
}

static const struct pvq_dirty dirty = { record, &marks };

static bool
is_marked(uint64_t addr, uint64_t len, bool before_shown)
{
	for (unsigned int i = 0; i < marks.n; i++)
		if (addr >= marks.mark[i].addr &&
				addr + len <= marks.mark[i].addr + marks.mark[i].len &&
				!(before_shown && marks.mark[i].shown))
			return true;
	return false;
}

/* Put @p n buffers of @p nsegs, take them, answer and mark them, push them. */
static void
fill(unsigned int n, uint16_t nsegs)
{
	struct pvq_chain chain;

	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_EQUAL_FATAL(pvq_packed_add(&rig.drv, pvq_rig_segs(nsegs, 0), nsegs,
						      pvq_rig_token(i)),
				0);
	for (unsigned int i = 0; i < n; i++) {
		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
		pvq_dirty_segs(&dirty, chain.segs, chain.nsegs, 60);
		if (rig.flags & RIG_IN_ORDER)
			pvq_packed_push_in_order(&rig.dev, chain.id, 60, chain.ndesc);
		else
			pvq_packed_push_used(&rig.dev, chain.id, 60, chain.ndesc);
	}
}

/* Every byte of the ring that a flush changes is marked: before it is shown, and the head after. */
static void
try_flush(unsigned int n, uint16_t nsegs)
{
	const uint64_t head = RIG_DESC_ADDR + 16u * rig.drv.used.idx;
	struct vring_packed_desc before[16];
	const uint8_t *was = (const uint8_t *)before, *is = (const uint8_t *)rig.desc;
	uint32_t len;

	marks.n = 0;
	fill(n, nsegs);
	CU_ASSERT_EQUAL(marks.n, n); /* 60 bytes are one segment */
	memcpy(before, rig.desc, rig.size * sizeof(before[0]));
	pvq_packed_flush_used(&rig.dev, &dirty);
	for (uint32_t i = 0; i < rig.size * sizeof(before[0]); i++)
		if (was[i] != is[i])
			CU_ASSERT_TRUE_FATAL(is_marked(RIG_DESC_ADDR + i, 1, true));
	/* Nothing beside the ring, and nothing more after the head than the head. */
	for (unsigned int i = n; i < marks.n; i++) {
		bool last = i == marks.n - 1;

		CU_ASSERT_TRUE(marks.mark[i].addr >= RIG_DESC_ADDR &&
				marks.mark[i].addr + marks.mark[i].len <=
						RIG_DESC_ADDR + 16u * rig.size);
		CU_ASSERT_EQUAL(marks.mark[i].shown, last);
	}
	CU_ASSERT_TRUE(is_marked(head, 16, true));
	CU_ASSERT_TRUE(marks.mark[marks.n - 1].addr <= head &&
			marks.mark[marks.n - 1].addr + marks.mark[marks.n - 1].len >= head + 16);
	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_PTR_EQUAL(pvq_packed_next_used(&rig.drv, &len), pvq_rig_token(i));
}

static void
lg_used_entries(void)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8, 16 };

	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
			for (uint64_t start = 0; start < 2u * sizes[s]; start++)
				for (uint16_t nsegs = 1; nsegs <= 3; nsegs++) {
					pvq_rig_init(&rig, sizes[s], start, flags);
					for (unsigned int n = 1;
							n * pvq_rig_slots(&rig, nsegs) <= sizes[s];
							n++)
						try_flush(n, nsegs);
					pvq_rig_fini(&rig);
				}
}

static void
lg_nothing_to_flush(void)
{
	pvq_rig_init(&rig, 5, 0, 0);
	marks.n = 0;
	pvq_packed_flush_used(&rig.dev, &dirty);
	CU_ASSERT_EQUAL(marks.n, 0);
	pvq_rig_fini(&rig);
}

static void
check_event(uint32_t want)
{
	CU_ASSERT_EQUAL(pvq_load(pvq_packed_event_word(rig.device_event)) >> 16, want);
	CU_ASSERT_EQUAL_FATAL(marks.n, 1);
	CU_ASSERT_EQUAL(marks.mark[0].addr, RIG_DEVICE_ADDR);
	CU_ASSERT_EQUAL(marks.mark[0].len, 4);
	marks.n = 0;
}

static void
lg_event_fields(void)
{
	for (unsigned int flags = 0; flags < 2; flags++) {
		pvq_rig_init(&rig, 5, 3, flags);
		marks.n = 0;
		for (unsigned int i = 0; i < 5; i++) {
			pvq_packed_disable_kick(&rig.dev, &dirty);
			check_event(1);
			CU_ASSERT_TRUE(pvq_packed_enable_kick(&rig.dev, &dirty));
			check_event(flags & RIG_EVENT_IDX ? 2 : 0);
			pvq_rig_pass(&rig, 1, 1);
		}
		pvq_rig_fini(&rig);
	}
}

/* Of a buffer, what was written and no more; what is only read, never. */
static void
lg_segments(void)
{
	static const struct pvq_seg segs[] = {
		{ 0x1000, 10, false },
		{ 0x2000, 20, true },
		{ 0x3000, 0, true },
		{ 0x4000, 30, true },
	};

	pvq_rig_init(&rig, 1, 0, 0);
	for (uint64_t len = 0; len <= 60; len++) {
		uint64_t first = len < 20 ? len : 20;
		uint64_t second = len < 50 ? len - first : 30;

		marks.n = 0;
		pvq_dirty_segs(NULL, segs, 4, len);
		CU_ASSERT_EQUAL(marks.n, 0);
		pvq_dirty_segs(&dirty, segs, 4, len);
		CU_ASSERT_EQUAL(marks.n, (first > 0) + (second > 0));
		if (first > 0)
			CU_ASSERT_TRUE(marks.mark[0].addr == 0x2000 && marks.mark[0].len == first);
		if (second > 0)
			CU_ASSERT_TRUE(marks.mark[1].addr == 0x4000 && marks.mark[1].len == second);
	}
	pvq_rig_fini(&rig);
}

static void
placed(uint64_t desc, uint64_t driver, uint64_t device, int ret)
{
	struct pvq_packed_dev_conf conf = { .size = rig.size, .mem = &rig.mem };

	CU_ASSERT_EQUAL(pvq_packed_dev_place(&conf, RIG_DESC_ADDR + desc, RIG_DRIVER_ADDR + driver,
					RIG_DEVICE_ADDR + device),
			ret);
	if (ret == 0)
		CU_ASSERT_TRUE(conf.desc == rig.desc && conf.driver_event == rig.driver_event &&
				conf.device_event == rig.device_event);
}

static void
place(void)
{
	pvq_rig_init(&rig, 5, 0, 0);
	placed(0, 0, 0, 0);
	placed(8, 0, 0, -EINVAL);
	placed(0, 2, 0, -EINVAL);
	placed(0, 0, 2, -EINVAL);
	placed(16, 0, 0, -EFAULT);
	placed(0, 4, 0, -EFAULT);
	placed(0, 0, 4, -EFAULT);
	pvq_rig_fini(&rig);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "LG used entries, before they are shown", lg_used_entries },
		{ "LG nothing to flush", lg_nothing_to_flush },
		{ "LG event fields", lg_event_fields },
		{ "LG segments", lg_segments },
		{ "where a ring is", place },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: marks", tests);
}
