/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Barriers A and B of the other publishing paths: what is made available on either ring, what is
 * used on a split one, and a batch in order on a packed one. The readers are the real halves where
 * they leave memory alone. Each path has a variant without its release, which must be found out.
 */

#include "explore.h"
#include "pvq_packed_rig.h"
#include "pvq_split_rig.h"

#define MAX_PUTS 3

static struct pvq_rig packed;
static struct split_rig split;
static unsigned int nputs;
static uint16_t nsegs;

/* Buffer @p i, of nsegs segments that nothing else has. */
static void
segs_of(unsigned int i, struct pvq_seg *segs)
{
	for (uint16_t s = 0; s < nsegs; s++)
		segs[s] = (struct pvq_seg){ 1000 + 10 * i + s, 100 + i, s > 0 };
}

static bool
is_buffer(unsigned int i, const struct pvq_chain *chain)
{
	struct pvq_seg want[2];

	segs_of(i, want);
	if (i >= nputs || chain->nsegs != nsegs)
		return false;
	for (uint16_t s = 0; s < nsegs; s++)
		if (chain->segs[s].addr != want[s].addr || chain->segs[s].len != want[s].len ||
				chain->segs[s].write != want[s].write)
			return false;
	return true;
}

/* A device takes all it sees, in the memory as it is. */
static bool
packed_device(const void *arg)
{
	struct pvq_rig *rig = &packed;
	struct pvq_packed_dev dev = rig->dev;
	struct pvq_chain chain;
	int ret;

	(void)arg;
	for (unsigned int i = 0;; i++) {
		rig->segs.n = 0;
		ret = pvq_packed_next_avail(&dev, &chain, &rig->segs);
		if (ret == 0)
			return i == 0 || i == nputs; /* all of a batch, or nothing */
		if (ret < 0 || !is_buffer(i, &chain))
			return false;
	}
}

static bool
split_device(const void *arg)
{
	struct split_rig *rig = &split;
	struct pvq_split_dev dev = rig->dev;
	struct pvq_chain chain;
	int ret;

	(void)arg;
	for (unsigned int i = 0;; i++) {
		rig->segs.n = 0;
		ret = pvq_split_next_avail(&dev, &chain, &rig->segs);
		if (ret == 0)
			return i == 0 || i == nputs;
		if (ret < 0 || !is_buffer(i, &chain))
			return false;
	}
}

static void
packed_add(bool release)
{
	struct pvq_packed_drv *drv = &packed.drv;
	struct pvq_seg segs[2];

	for (unsigned int i = 0; i < nputs; i++) {
		segs_of(i, segs);
		CU_ASSERT_EQUAL_FATAL(pvq_packed_put(drv, segs, nsegs, drv), 0);
	}
	if (release)
		pvq_packed_publish(drv);
	else
		pvq_store(pvq_packed_word(&drv->desc[drv->head_idx]), drv->head_word);
}

static void
split_add(bool release)
{
	struct pvq_split_drv *drv = &split.drv;
	struct pvq_seg segs[2];

	for (unsigned int i = 0; i < nputs; i++) {
		segs_of(i, segs);
		CU_ASSERT_EQUAL_FATAL(pvq_split_put(drv, segs, nsegs, drv), 0);
	}
	if (release)
		pvq_split_publish(drv);
	else
		pvq_store(&drv->avail_ring->idx, drv->shadow_avail_idx);
}

/* On a ring of @p size, from each slot of two laps: with the release, and without. */
static void
try_available(uint16_t size, unsigned int flags)
{
	for (uint64_t start = 0; start < 2u * size; start++)
		for (unsigned int release = 0; release < 2; release++) {
			struct explored seen;

			pvq_rig_init(&packed, size, start, flags);
			record_begin();
			packed_add(release);
			record_end();
			seen = explore(packed_device, NULL);
			CU_ASSERT_EQUAL(seen.bad == 0, release);
			CU_ASSERT_TRUE(seen.images > 2);
			pvq_rig_fini(&packed);
			if (size & (size - 1))
				continue;
			split_rig_init(&split, size, start - size, flags ? SPLIT_INDIRECT : 0);
			record_begin();
			split_add(release);
			record_end();
			seen = explore(split_device, NULL);
			CU_ASSERT_EQUAL(seen.bad == 0, release);
			CU_ASSERT_TRUE(seen.images > 2);
			split_rig_fini(&split);
		}
}

static void
made_available(void)
{
	for (nputs = 1; nputs <= MAX_PUTS; nputs++)
		for (nsegs = 1; nsegs <= 2; nsegs++) {
			const unsigned int flags[] = { 0, RIG_INDIRECT };

			if (nputs * nsegs > 4)
				continue;
			for (unsigned int f = 0; f < 2; f++) {
				try_available(4, flags[f]);
				try_available(5, flags[f]);
			}
		}
}

static uint64_t payload[MAX_PUTS];
static uint32_t ids[MAX_PUTS];

/* Whatever the used index shows has its entry and its payload. */
static bool
split_driver(const void *arg)
{
	const struct vring_used *used = split.used;
	uint16_t base = split.drv.used, n = used->idx - base;

	(void)arg;
	if (n != 0 && n != nputs)
		return false;
	for (uint16_t i = 0; i < n; i++) {
		const struct vring_used_elem *e = &used->ring[(uint16_t)(base + i) % split.size];

		if (e->id != ids[i] || e->len != 40u + i || payload[i] != i + 1u)
			return false;
	}
	return true;
}

static void
split_use(bool release)
{
	struct pvq_split_dev *dev = &split.dev;

	for (unsigned int i = 0; i < nputs; i++) {
		pvq_store(&payload[i], i + 1u);
		pvq_split_push_used(dev, ids[i], 40 + i);
	}
	if (release)
		pvq_split_flush_used(dev, NULL);
	else
		pvq_store(&dev->used_ring->idx, dev->used + dev->nb_pushed);
}

static void
used_on_a_split_ring(void)
{
	nsegs = 1;
	for (nputs = 1; nputs <= MAX_PUTS; nputs++)
		for (uint16_t base = 65533; base != 3; base++)
			for (unsigned int release = 0; release < 2; release++) {
				struct pvq_chain chain;
				struct explored seen;

				split_rig_init(&split, 4, base, 0);
				split_add(true);
				for (unsigned int i = 0; i < nputs; i++) {
					split.segs.n = 0;
					CU_ASSERT_EQUAL_FATAL(split_rig_take(&split, &chain), 1);
					ids[i] = chain.id;
					payload[i] = 0;
				}
				record_begin();
				split_use(release);
				record_end();
				seen = explore(split_driver, NULL);
				CU_ASSERT_EQUAL(seen.bad == 0, release);
				split_rig_fini(&split);
			}
}

/* One used entry, and behind it the payload of the whole batch. */
static bool
in_order_driver(const void *arg)
{
	struct pvq_cursor c = packed.drv.used;
	uint64_t word = *pvq_packed_word(&packed.desc[c.idx]);

	(void)arg;
	if (!pvq_packed_is_used(word, c.wrap))
		return true;
	for (unsigned int i = 0; i < nputs; i++)
		if (payload[i] != i + 1u)
			return false;
	return pvq_packed_word_id(word) == ids[nputs - 1] && pvq_packed_word_len(word) == 40;
}

static void
in_order_use(bool barrier)
{
	struct pvq_packed_dev *dev = &packed.dev;

	for (unsigned int i = 0; i < nputs; i++) {
		pvq_store(&payload[i], i + 1u);
		pvq_packed_push_in_order(dev, ids[i], 40, 1);
	}
	if (barrier)
		pvq_packed_flush_used(dev, NULL);
	else
		pvq_store(pvq_packed_word(&dev->desc[dev->used.idx]),
				pvq_packed_used_word(&dev->shadow_used[0], dev->used.wrap));
}

static void
used_in_order(void)
{
	nsegs = 1;
	for (nputs = 1; nputs <= MAX_PUTS; nputs++)
		for (uint64_t start = 0; start < 10; start++)
			for (unsigned int barrier = 0; barrier < 2; barrier++) {
				struct pvq_chain chain;
				struct explored seen;

				pvq_rig_init(&packed, 5, start, RIG_IN_ORDER);
				packed_add(true);
				for (unsigned int i = 0; i < nputs; i++) {
					CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&packed, &chain), 1);
					ids[i] = chain.id;
					payload[i] = 0;
				}
				record_begin();
				in_order_use(barrier);
				record_end();
				seen = explore(in_order_driver, NULL);
				CU_ASSERT_EQUAL(seen.bad == 0, barrier);
				pvq_rig_fini(&packed);
			}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "made available, on either ring", made_available },
		{ "used, on a split ring", used_on_a_split_ring },
		{ "used in order, on a packed ring", used_in_order },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("explorer: publish", tests);
}
