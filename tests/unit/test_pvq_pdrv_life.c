/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, driver's half: set up, drained, emptied, set up anew. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_packed_rig.h"

static struct pvq_rig rig;
static uint32_t len;

static void
add(uint16_t n, uint64_t token)
{
	CU_ASSERT_EQUAL_FATAL(
			pvq_packed_add(&rig.drv, pvq_rig_segs(n, 0), n, pvq_rig_token(token)), 0);
}

static void
expect(uint64_t token)
{
	CU_ASSERT_PTR_EQUAL_FATAL(pvq_packed_next_used(&rig.drv, &len), pvq_rig_token(token));
}

static void
bad_set_up(void)
{
	static const struct {
		uint32_t size;
		uint16_t base, table_segs;
		int want;
	} cases[] = {
		{ 0, 0, 0, -EINVAL },
		{ 32769, 0, 0, -EINVAL },
		{ 65535, 0, 0, -EINVAL },
		{ 8, 8, 0, -EINVAL },
		{ 8, 0x8000, 0, -EINVAL },
		{ 8, 7, 9, -EINVAL },
		{ 8, 7, 8, 0 },
		{ 1, 0, 0, 0 },
		{ 32768, 32767, 32768, 0 },
	};
	struct vring_packed_desc_event event;
	struct vring_packed_desc *desc = pvq_guarded_alloc(32768 * sizeof(*desc));
	struct pvq_packed_drv drv;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pvq_packed_drv_conf conf = {
			.desc = desc,
			.driver_event = &event,
			.size = cases[i].size,
			.base = { cases[i].base, true },
			.table_segs = cases[i].table_segs,
		};
		int ret = pvq_packed_drv_init(&drv, &conf);

		CU_ASSERT_EQUAL(ret, cases[i].want);
		if (ret == 0)
			pvq_packed_drv_fini(&drv);
	}
	pvq_guarded_free(desc, 32768 * sizeof(*desc));
}

static void
looks_fresh(struct pvq_rig *r)
{
	struct pvq_chain chain;

	/* The words that say nothing to either side, slot by slot of the lap to come. */
	for (uint64_t pos = r->start; pos < r->start + r->size; pos++) {
		uint16_t flags = r->desc[pos % r->size].flags;

		CU_ASSERT_EQUAL_FATAL(flags, pos / r->size % 2 == 0 ? 0x0000 : 0x8080);
	}
	CU_ASSERT_EQUAL(pvq_rig_take(r, &chain), 0);
	CU_ASSERT_PTR_NULL(pvq_packed_next_used(&r->drv, &len));
	CU_ASSERT_FALSE(pvq_packed_poll(&r->drv, pvq_packed_position(&r->drv)));
	CU_ASSERT_EQUAL(pvq_packed_capacity(&r->drv), r->size);
	CU_ASSERT_EQUAL(pvq_load(pvq_packed_event_word(r->driver_event)), 0);
	CU_ASSERT_PTR_NULL(pvq_packed_detach_unused(&r->drv));
}

static void
init_clears_the_ring(void)
{
	pvq_rig_each(looks_fresh);
}

/* Empty the ring, in an order of its own, of @p n buffers. */
static void
detach(uint64_t n)
{
	uint64_t seen = 0;

	for (uint64_t i = 0; i < n; i++) {
		uintptr_t token = (uintptr_t)pvq_packed_detach_unused(&rig.drv);

		CU_ASSERT_FATAL(token >= 1 && token <= n && !(seen & UINT64_C(1) << token));
		seen |= UINT64_C(1) << token;
	}
	CU_ASSERT_PTR_NULL(pvq_packed_detach_unused(&rig.drv));
	CU_ASSERT_PTR_NULL(pvq_packed_detach_unused(&rig.drv));
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), rig.size);
	CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig.drv, &len));
}

/* After a number of slots, the device stops with three buffers on the ring; it has looked at
 * @p taken of them. Later it goes on from where it was.
 */
static void
detach_three(uint64_t start, unsigned int flags, unsigned int taken, bool published)
{
	struct pvq_chain chain;

	pvq_rig_init(&rig, 8, start, flags);
	pvq_rig_pass(&rig, 3, 1);
	for (unsigned int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(pvq_packed_put(&rig.drv, pvq_rig_segs(1 + i, 1), 1 + i,
						pvq_rig_token(i)),
				0);
	if (published) {
		struct pvq_packed_mark mark = pvq_packed_mark(&rig.dev);

		pvq_packed_publish(&rig.drv);
		for (unsigned int i = 0; i < taken; i++)
			CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 1);
		pvq_packed_rewind(&rig.dev, mark);
	}
	detach(3);
	pvq_packed_publish(&rig.drv);
	CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 0);
	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < 3; i++)
			add(1 + (i + round) % 2, i);
		CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 3);
		for (unsigned int i = 0; i < 3; i++)
			expect(i);
	}
	pvq_rig_fini(&rig);
}

static void
dr01_detach_then_add(void)
{
	for (uint64_t start = 0; start < 16; start++)
		for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
			for (unsigned int taken = 0; taken < 4; taken++) {
				detach_three(start, flags, taken, true);
				detach_three(start, flags, taken, false);
			}
}

/* A full ring, whose buffers have come back in another order before. */
static void
detach_full(void)
{
	struct pvq_chain chain[16];

	for (uint64_t start = 0; start < 32; start++) {
		pvq_rig_init(&rig, 16, start, 0);
		for (unsigned int round = 0; round < 3; round++) {
			for (unsigned int i = 0; i < 16; i++)
				add(1, i);
			for (unsigned int i = 0; i < 16; i++)
				CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain[i]), 1);
			for (unsigned int i = 0; i < 16; i++)
				pvq_rig_use(&rig, &chain[i * 7 % 16], 0);
			for (unsigned int i = 0; i < 16; i++)
				expect(i * 7 % 16);
			for (unsigned int i = 0; i < 16; i++)
				add(1, i);
			detach(16);
		}
		pvq_rig_pass(&rig, 40, 3);
		pvq_rig_fini(&rig);
	}
}

/* A broken ring gives its buffers back, too. */
static void
detach_broken(void)
{
	pvq_rig_init(&rig, 8, 5, 0);
	for (unsigned int i = 0; i < 3; i++)
		add(2, i);
	pvq_rig_write_used(&rig, rig.start, 7, 0);
	CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig.drv, &len));
	CU_ASSERT_TRUE(rig.drv.broken);
	detach(3);
	pvq_rig_fini(&rig);
}

/* The driver has nothing to post until the ring is drained; then it has again. */
static void
dr11_drained_and_refilled(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		pvq_rig_init(&rig, 5, 3, flags);
		for (unsigned int round = 0; round < 5; round++) {
			unsigned int n = 5 - round % 2;

			for (unsigned int i = 0; i < n; i++)
				add(1, i);
			CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 60), n);
			for (unsigned int i = 0; i < n; i++)
				expect(i);
			/* drained: nothing to take on either side, nor to be told of */
			for (unsigned int i = 0; i < 10; i++) {
				CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig.drv, &len));
				CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 60), 0);
			}
			CU_ASSERT_TRUE(pvq_packed_enable_cb(&rig.drv));
			CU_ASSERT_TRUE(pvq_packed_enable_kick(&rig.dev, NULL));
			pvq_packed_must_call(&rig.dev);
			add(1, 9);
			CU_ASSERT_TRUE(pvq_packed_must_kick(&rig.drv));
			CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 60), 1);
			CU_ASSERT_TRUE(pvq_packed_must_call(&rig.dev));
			expect(9);
		}
		pvq_rig_fini(&rig);
	}
}

/* Leave as much behind as can be left: laps, events, buffers, a batch, a broken ring. */
static void
use_up(unsigned int variant)
{
	struct pvq_chain chain;

	rig.drv.use_wrap_counter = true;
	pvq_rig_pass(&rig, 5u * rig.size + 3, 1);
	pvq_packed_disable_cb(&rig.drv);
	pvq_packed_must_kick(&rig.drv);
	pvq_packed_disable_kick(&rig.dev, NULL);
	for (uint64_t i = 0; pvq_packed_capacity(&rig.drv) > 1; i++)
		add(1, i);
	for (unsigned int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 1);
		if (rig.flags & RIG_IN_ORDER)
			pvq_packed_push_in_order(&rig.dev, chain.id, 0, 1);
		else
			pvq_packed_push_used(&rig.dev, chain.id, 0, 1);
	}
	if (variant % 2)
		pvq_packed_flush_used(&rig.dev, NULL);
	expect(variant % 2 ? 0 : UINTPTR_MAX); /* token NULL: none */
	CU_ASSERT_EQUAL(pvq_packed_put(&rig.drv, pvq_rig_segs(1, 1), 1, &rig), 0);
	if (variant & 2)
		CU_ASSERT_PTR_NOT_NULL(pvq_packed_detach_unused(&rig.drv));
	rig.drv.broken = variant & 4;
}

static void
dr13_set_up_anew(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
		for (unsigned int variant = 0; variant < 8; variant++) {
			uint16_t size = variant % 3 == 0 ? 16 : 5;

			pvq_rig_init(&rig, 16, 14, flags);
			use_up(variant);
			pvq_rig_restart(&rig, size, variant % 2 ? size + 1 : 0);
			looks_fresh(&rig);
			CU_ASSERT_FALSE(rig.drv.broken || rig.drv.use_wrap_counter);
			CU_ASSERT_EQUAL(pvq_packed_position(&rig.drv) >> 16, 0);
			pvq_rig_pass(&rig, 1, 1);
			CU_ASSERT_TRUE(pvq_packed_must_kick(&rig.drv));
			CU_ASSERT_TRUE(pvq_packed_must_call(&rig.dev));
			for (uint16_t n = 1; n <= size; n++)
				pvq_rig_pass(&rig, 2u * size, n);
			pvq_rig_fini(&rig);
		}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "set-ups that are refused", bad_set_up },
		{ "a fresh ring says nothing", init_clears_the_ring },
		{ "DR01 detach, then add", dr01_detach_then_add },
		{ "detach of a full ring", detach_full },
		{ "detach of a broken ring", detach_broken },
		{ "DR11 drained and refilled", dr11_drained_and_refilled },
		{ "DR13 set up anew", dr13_set_up_anew },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: life", tests);
}
