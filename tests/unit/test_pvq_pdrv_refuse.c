/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, from the driver's to the device's half: what is
 * refused, and that it leaves no trace. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_packed_rig.h"

/* All that a refused buffer must leave as it was, bit for bit. */
struct snapshot {
	struct pvq_packed_drv drv;
	struct pvq_packed_lent lent[16];
	struct vring_packed_desc desc[16];
	struct vring_packed_desc tables[16 * RIG_MAX_SEGS];
};

static void
shoot(struct snapshot *s, const struct pvq_rig *rig)
{
	memset(s, 0, sizeof(*s));
	memcpy(&s->drv, &rig->drv, sizeof(s->drv));
	memcpy(s->lent, rig->drv.lent, rig->size * sizeof(s->lent[0]));
	memcpy(s->desc, rig->desc, rig->size * sizeof(s->desc[0]));
	if (rig->tables != NULL)
		memcpy(s->tables, rig->tables,
				rig->size * rig->drv.table_segs * sizeof(s->tables[0]));
}

static void
refused(struct pvq_rig *rig, const struct pvq_seg *segs, uint16_t n, void *token, int want)
{
	struct snapshot before, after;

	shoot(&before, rig);
	CU_ASSERT_EQUAL(pvq_packed_put(&rig->drv, segs, n, token), want);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig->drv, segs, n, token), want);
	shoot(&after, rig);
	CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof(before)), 0);
}

static void
publish_of_nothing(void)
{
	struct snapshot before, after;
	struct pvq_rig rig;

	pvq_rig_init(&rig, 3, 2, 0);
	pvq_rig_pass(&rig, 5, 1);
	shoot(&before, &rig);
	pvq_packed_publish(&rig.drv);
	shoot(&after, &rig);
	CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof(before)), 0);
	pvq_rig_fini(&rig);
}

static void
dr05_space_is_counted_in_slots(void)
{
	struct pvq_rig rig;

	pvq_rig_init(&rig, 8, 3, 0);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(3, 3), 3, &rig), 0);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(3, 3), 3, &rig), 0);
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), 2);
	refused(&rig, pvq_rig_segs(3, 3), 3, &rig, -ENOSPC);
	CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 2);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(2, 2), 2, &rig), 0);
	pvq_rig_fini(&rig);
}

static void
dr07_no_segments(void)
{
	const struct pvq_seg *seg = pvq_rig_segs(3, 3);
	struct pvq_rig rig;
	struct pvq_chain chain;

	pvq_rig_init(&rig, 8, 6, RIG_INDIRECT);
	CU_ASSERT_EQUAL(pvq_packed_put(&rig.drv, seg, 3, &rig), 0);
	refused(&rig, NULL, 0, &rig, -EINVAL);
	refused(&rig, pvq_rig_segs(1, 1), 0, &rig, -EINVAL);
	pvq_packed_publish(&rig.drv);
	refused(&rig, NULL, 0, &rig, -EINVAL);
	CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
	CU_ASSERT_TRUE(chain.nsegs == 3 && chain.ndesc == 1 && chain.segs[2].addr == seg[2].addr);
	CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 0);
	pvq_rig_fini(&rig);
}

static void
bad_buffers(void)
{
	static const struct pvq_seg order[] = { { 0, 1, true }, { 0, 1, false } };
	static const struct pvq_seg later[] = { { 0, 1, false }, { 0, 1, true }, { 0, 1, false } };
	static const struct pvq_seg big[] = { { 0, UINT32_MAX, false }, { 0, 1, true } };
	static const struct pvq_seg huge[] = { { 0, UINT32_MAX, true }, { 0, UINT32_MAX, true },
		{ 0, 2, true } };
	struct pvq_rig rig;
	struct pvq_chain chain;

	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		pvq_rig_init(&rig, 8, 15, flags);
		refused(&rig, order, 2, &rig, -EINVAL);
		refused(&rig, later, 3, &rig, -EINVAL);
		refused(&rig, big, 2, &rig, -EINVAL);
		refused(&rig, huge, 3, &rig, -EINVAL);
		refused(&rig, big, 1, NULL, -EINVAL);
		refused(&rig, pvq_rig_segs(9, 9), 9, &rig, -ENOSPC);
		CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 0);
		/* one byte less is the most there can be */
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, big, 1, &rig), 0);
		CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 1);
		rig.drv.broken = true;
		refused(&rig, pvq_rig_segs(1, 1), 1, &rig, -EIO);
		pvq_rig_fini(&rig);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "publish of nothing", publish_of_nothing },
		{ "DR05 space is counted in slots", dr05_space_is_counted_in_slots },
		{ "DR07 no segments", dr07_no_segments },
		{ "buffers that are refused", bad_buffers },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: refusals", tests);
}
