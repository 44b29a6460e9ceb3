/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, from the device's to the driver's half: what is taken back, and what a device may
 * say without the driver losing its way.
 */

#include <errno.h>

#include "pvq_packed_rig.h"

static struct pvq_rig rig;
static uint32_t len;

static void
add(uint16_t n, uint16_t nread, uint64_t token)
{
	CU_ASSERT_EQUAL_FATAL(
			pvq_packed_add(&rig.drv, pvq_rig_segs(n, nread), n, pvq_rig_token(token)),
			0);
}

static void
expect(uint64_t token, uint32_t want)
{
	CU_ASSERT_PTR_EQUAL_FATAL(pvq_packed_next_used(&rig.drv, &len), pvq_rig_token(token));
	CU_ASSERT_EQUAL_FATAL(len, want);
}

static void
expect_none(void)
{
	CU_ASSERT_PTR_NULL_FATAL(pvq_packed_next_used(&rig.drv, &len));
}

/* Fill the ring with buffers of 1 to 3 slots, and give them back the last first. */
static void
last_first(struct pvq_rig *r)
{
	static struct pvq_chain chain[PVQ_MAX_SIZE];
	uint32_t n;

	if (r->flags & (RIG_IN_ORDER | RIG_INDIRECT))
		return;
	for (unsigned int round = 0; round < 5; round++) {
		for (n = 0; pvq_packed_capacity(&r->drv) >= 1 + n % 3; n++)
			CU_ASSERT_EQUAL_FATAL(pvq_packed_add(&r->drv, pvq_rig_segs(1 + n % 3, 0),
							      1 + n % 3, pvq_rig_token(n)),
					0);
		for (uint32_t i = 0; i < n; i++)
			CU_ASSERT_EQUAL_FATAL(pvq_rig_take(r, &chain[i]), 1);
		for (uint32_t i = n; i-- > 0;) {
			pvq_rig_use(r, &chain[i], 1 + i % 60);
			CU_ASSERT_PTR_EQUAL_FATAL(
					pvq_packed_next_used(&r->drv, &len), pvq_rig_token(i));
			CU_ASSERT_EQUAL_FATAL(len, 1 + i % 60);
			CU_ASSERT_PTR_NULL_FATAL(pvq_packed_next_used(&r->drv, &len));
		}
		CU_ASSERT_EQUAL_FATAL(pvq_packed_capacity(&r->drv), r->size);
	}
}

static void
out_of_order(void)
{
	pvq_rig_each(last_first);
}

/* Never more than the device was allowed to write. */
static void
lengths_are_clamped(void)
{
	static const struct {
		uint16_t n, nread;
		uint32_t said, want;
	} cases[] = {
		{ 1, 0, 59, 59 },
		{ 1, 0, 60, 60 },
		{ 1, 0, 61, 60 },
		{ 1, 0, UINT32_MAX, 60 },
		{ 1, 1, 0, 0 },
		{ 1, 1, 1, 0 },
		{ 3, 1, 120, 120 },
		{ 3, 1, 121, 120 },
		{ 3, 1, 180, 120 },
		{ 3, 3, UINT32_MAX, 0 },
	};

	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		pvq_rig_init(&rig, 5, 4, flags);
		for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			add(cases[i].n, cases[i].nread, i);
			CU_ASSERT_EQUAL(pvq_rig_serve(&rig, cases[i].said), 1);
			expect(i, cases[i].want);
		}
		pvq_rig_fini(&rig);
	}
}

static void
check_broken(void)
{
	uint32_t position = pvq_packed_position(&rig.drv);

	CU_ASSERT_TRUE(rig.drv.broken);
	for (unsigned int i = 0; i < 3; i++) {
		expect_none();
		CU_ASSERT_FALSE(pvq_packed_poll(&rig.drv, position));
		CU_ASSERT_FALSE(pvq_packed_poll(&rig.drv, position + 1));
		CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(1, 1), 1, &rig), -EIO);
	}
}

/* Two buffers are with the device; a used entry names @p id. */
static void
wrong_id(uint32_t id, unsigned int flags)
{
	pvq_rig_init(&rig, 8, 15, flags);
	add(1, 1, 1);
	add(2, 1, 2);
	pvq_rig_write_used(&rig, rig.start, id, 4);
	expect_none();
	check_broken();
	pvq_rig_fini(&rig);
}

static void
ids_that_do_not_exist(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		for (uint32_t id = 2; id < 8; id++) /* not outstanding */
			wrong_id(id, flags);
		wrong_id(8, flags);
		wrong_id(9, flags);
		wrong_id(0x8000, flags);
		wrong_id(UINT16_MAX, flags);
	}
}

/* A buffer that has been taken back is named once more. */
static void
repeated_id(void)
{
	struct pvq_chain chain;

	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		pvq_rig_init(&rig, 8, 14, flags);
		add(1, 1, 1);
		add(1, 1, 2);
		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
		pvq_rig_use(&rig, &chain, 0);
		expect(1, 0);
		expect_none();
		pvq_rig_write_used(&rig, rig.start + 1, chain.id, 0);
		expect_none();
		check_broken();
		pvq_rig_fini(&rig);
	}
}

static void
dr09_broken_with_one_unread(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		uint32_t position;

		pvq_rig_init(&rig, 8, 0, flags);
		position = pvq_packed_position(&rig.drv);
		add(1, 1, 1);
		CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 1);
		CU_ASSERT_TRUE(pvq_packed_poll(&rig.drv, position));
		rig.drv.broken = true;
		check_broken();
		pvq_rig_fini(&rig);
	}
}

/* One used entry closes @p n buffers of 1 to 3 segments. */
static void
close_batch(unsigned int n)
{
	unsigned int capacity = pvq_packed_capacity(&rig.drv);
	struct pvq_chain chain;

	for (unsigned int i = 0; i < n; i++)
		add(1 + i % 3, i % 2, i);
	for (unsigned int i = 0; i < n; i++) {
		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
		pvq_packed_push_in_order(&rig.dev, chain.id, 7, chain.ndesc);
	}
	expect_none();
	pvq_packed_flush_used(&rig.dev, NULL);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t full = 60 * (1 + i % 3 - (i % 2));
		uint32_t last = full < 7 ? full : 7;

		CU_ASSERT_TRUE(pvq_packed_poll(&rig.drv, pvq_packed_position(&rig.drv)));
		expect(i, i + 1 < n ? full : last);
	}
	CU_ASSERT_FALSE(pvq_packed_poll(&rig.drv, pvq_packed_position(&rig.drv)));
	expect_none();
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), capacity);
	CU_ASSERT_TRUE(rig.dev.taken == 0 && rig.dev.used.idx == rig.drv.used.idx);
}

static void
in_order_batches(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
		for (uint64_t start = 0; start < 32; start++) {
			pvq_rig_init(&rig, 16, start, flags | RIG_IN_ORDER);
			for (unsigned int n = 1; n <= 8; n++)
				close_batch(n);
			pvq_rig_fini(&rig);
		}
}

static void
in_order_whole_ring(void)
{
	struct pvq_chain chain;

	pvq_rig_init(&rig, 5, 0, RIG_IN_ORDER);
	for (unsigned int round = 0; round < 7; round++) {
		uint16_t n = 0;

		for (uint64_t i = 0; i < 5; i++)
			add(1, 0, i);
		while (pvq_rig_take(&rig, &chain) == 1) {
			pvq_packed_push_in_order(&rig.dev, chain.id, 60, 1);
			n++;
		}
		CU_ASSERT_EQUAL(n, 5);
		pvq_packed_flush_used(&rig.dev, NULL);
		for (uint64_t i = 0; i < 5; i++)
			expect(i, 60);
		expect_none();
		pvq_rig_pass(&rig, round, 1);
	}
	pvq_rig_fini(&rig);
}

/* What was pushed after a mark is not in the batch after a rewind; what was before it, is. */
static void
in_order_rewind(void)
{
	struct pvq_packed_mark mark;
	struct pvq_chain chain;

	for (unsigned int before = 0; before < 3; before++) {
		pvq_rig_init(&rig, 8, 6, RIG_IN_ORDER);
		for (uint64_t i = 0; i < 6; i++)
			add(1, 0, i);
		for (unsigned int i = 0; i < before; i++) {
			CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
			pvq_packed_push_in_order(&rig.dev, chain.id, 60, 1);
		}
		mark = pvq_packed_mark(&rig.dev);
		for (unsigned int i = 0; i < 2; i++) {
			CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
			pvq_packed_push_in_order(&rig.dev, chain.id, 60, 1);
		}
		pvq_packed_rewind(&rig.dev, mark);
		pvq_packed_flush_used(&rig.dev, NULL);
		for (unsigned int i = 0; i < before; i++)
			expect(i, 60);
		expect_none();
		CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 60), 6 - before);
		for (unsigned int i = before; i < 6; i++)
			expect(i, 60);
		expect_none();
		pvq_rig_fini(&rig);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "buffers come back in any order", out_of_order },
		{ "lengths are clamped", lengths_are_clamped },
		{ "ids that do not exist", ids_that_do_not_exist },
		{ "an id that is repeated", repeated_id },
		{ "DR09 broken, with one unread", dr09_broken_with_one_unread },
		{ "in order: one entry for several", in_order_batches },
		{ "in order: one entry for the whole ring", in_order_whole_ring },
		{ "in order: mark and rewind", in_order_rewind },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: used", tests);
}
