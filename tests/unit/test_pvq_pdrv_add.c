/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, from the driver's to the device's half: what is put, and when it is seen. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_packed_rig.h"

/* Is @p chain what pvq_rig_segs(@p n, @p nread) was put as? */
static bool
same(const struct pvq_rig *rig, const struct pvq_chain *chain, uint16_t n, uint16_t nread)
{
	const struct pvq_seg *want = pvq_rig_segs(n, nread);

	if (chain->nsegs != n || chain->ndesc != pvq_rig_slots(rig, n))
		return false;
	for (uint16_t i = 0; i < n; i++) {
		const struct pvq_seg *got = &chain->segs[i];

		if (got->addr != want[i].addr || got->len != want[i].len ||
				got->write != want[i].write)
			return false;
	}
	return true;
}

/* Put buffers of 1 to 4 segments until no more fit, publish, look; and that for two passed. */
static void
publish_shows_all(struct pvq_rig *rig)
{
	uint16_t shapes[64], n, nread;
	uint32_t put, slots, len, passed = 0;
	struct pvq_chain chain;

	for (uint32_t round = 0; passed < 3u * rig->size && round < 40; round++) {
		slots = 0;
		for (put = 0; put < 64; put++) {
			n = 1 + (put + round) % 4;
			if (slots + pvq_rig_slots(rig, n) > rig->size)
				break;
			nread = put % (n + 1u);
			CU_ASSERT_EQUAL_FATAL(pvq_packed_put(&rig->drv, pvq_rig_segs(n, nread), n,
							      pvq_rig_token(put)),
					0);
			shapes[put] = n << 8 | nread;
			slots += pvq_rig_slots(rig, n);
			CU_ASSERT_EQUAL_FATAL(pvq_packed_capacity(&rig->drv), rig->size - slots);
			CU_ASSERT_EQUAL_FATAL(pvq_rig_take(rig, &chain), 0);
		}
		pvq_packed_publish(&rig->drv);
		for (uint32_t i = 0; i < put; i++) {
			CU_ASSERT_EQUAL_FATAL(pvq_rig_take(rig, &chain), 1);
			CU_ASSERT_FATAL(same(rig, &chain, shapes[i] >> 8, shapes[i] & 0xff));
			pvq_packed_push_used(&rig->dev, chain.id, 60, chain.ndesc);
		}
		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(rig, &chain), 0);
		CU_ASSERT_PTR_NULL_FATAL(pvq_packed_next_used(&rig->drv, &len));
		pvq_packed_flush_used(&rig->dev, NULL);
		for (uint32_t i = 0; i < put; i++) {
			bool room = (shapes[i] & 0xff) < shapes[i] >> 8;

			CU_ASSERT_PTR_EQUAL_FATAL(
					pvq_packed_next_used(&rig->drv, &len), pvq_rig_token(i));
			CU_ASSERT_EQUAL_FATAL(len, room ? 60 : 0);
		}
		CU_ASSERT_PTR_NULL_FATAL(pvq_packed_next_used(&rig->drv, &len));
		CU_ASSERT_EQUAL_FATAL(pvq_packed_capacity(&rig->drv), rig->size);
		passed += slots;
	}
}

static void
put_and_publish(void)
{
	pvq_rig_each(publish_shows_all);
}

/* A chain as long as the ring, from wherever the ring is; then one more. */
static void
whole_ring(struct pvq_rig *rig)
{
	const struct pvq_cursor other = pvq_rig_cursor(rig->size, rig->start + rig->size);
	struct pvq_chain chain;
	uint32_t len;

	/* A table does not hold so many, but on the smallest rings. */
	if (pvq_rig_slots(rig, rig->size) != rig->size)
		return;
	CU_ASSERT_EQUAL_FATAL(pvq_packed_add(&rig->drv, pvq_rig_segs(rig->size, 0), rig->size,
					      pvq_rig_token(7)),
			0);
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig->drv), 0);
	CU_ASSERT_TRUE(rig->drv.avail.idx == other.idx && rig->drv.avail.wrap == other.wrap);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig->drv, pvq_rig_segs(1, 0), 1, rig), -ENOSPC);
	CU_ASSERT_EQUAL_FATAL(pvq_rig_take(rig, &chain), 1);
	CU_ASSERT_TRUE(same(rig, &chain, rig->size, 0));
	CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig->drv, &len));
	pvq_rig_use(rig, &chain, 61);
	CU_ASSERT_PTR_EQUAL(pvq_packed_next_used(&rig->drv, &len), pvq_rig_token(7));
	CU_ASSERT_EQUAL(len, rig->size == 1 ? 60 : 61);
	CU_ASSERT_TRUE(rig->drv.used.idx == other.idx && rig->drv.used.wrap == other.wrap);
	CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig->drv, &len));
	pvq_rig_pass(rig, 2u * rig->size < 40 ? 2u * rig->size : 40, 1);
}

static void
pk01_chain_of_the_whole_ring(void)
{
	struct pvq_rig rig;

	pvq_rig_init(&rig, 4, 5, 0);
	CU_ASSERT_TRUE(rig.drv.avail.idx == 1 && !rig.drv.avail.wrap);
	whole_ring(&rig);
	pvq_rig_fini(&rig);
}

static void
pk16_chain_of_ring_size(void)
{
	pvq_rig_each(whole_ring);
}

/* Not looked for with the wrap counter that its own chain has turned over. */
static void
pk03_chain_across_the_end(void)
{
	struct pvq_rig rig;
	struct pvq_chain chain;
	uint32_t len;

	for (uint64_t lap = 0; lap < 2; lap++) {
		pvq_rig_init(&rig, 8, 8 * lap + 7, 0);
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(3, 1), 3, &rig), 0);
		CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig.drv, &len));
		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
		/* The device writes slot 7 alone. */
		pvq_rig_write_used(&rig, rig.start, chain.id, 100);
		CU_ASSERT_PTR_EQUAL(pvq_packed_next_used(&rig.drv, &len), &rig);
		CU_ASSERT_EQUAL(len, 100);
		CU_ASSERT_PTR_NULL(pvq_packed_next_used(&rig.drv, &len));
		CU_ASSERT_FALSE(pvq_packed_poll(&rig.drv, pvq_packed_position(&rig.drv)));
		pvq_rig_fini(&rig);
	}
}

/* The device has stored another id in the slot that is filled again. */
static void
dr03_ids_are_written_again(void)
{
	struct pvq_rig rig;
	struct pvq_chain chain;
	uint32_t len;
	bool seen[4];

	pvq_rig_init(&rig, 4, 0, RIG_IN_ORDER);
	for (unsigned int round = 0; round < 8; round++) {
		memset(seen, 0, sizeof(seen));
		for (unsigned int i = 0; i < 4; i++)
			CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(1, 1), 1,
							pvq_rig_token(i)),
					0);
		for (unsigned int i = 0; i < 4; i++) {
			CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
			CU_ASSERT_FATAL(chain.id < 4 && !seen[chain.id]);
			seen[chain.id] = true;
			pvq_packed_push_in_order(&rig.dev, chain.id, 0, 1);
		}
		pvq_packed_flush_used(&rig.dev, NULL);
		for (unsigned int i = 0; i < 4; i++)
			CU_ASSERT_PTR_EQUAL(pvq_packed_next_used(&rig.drv, &len), pvq_rig_token(i));
	}
	pvq_rig_fini(&rig);
}

static void
in11_a_table_takes_one_slot(void)
{
	struct pvq_rig rig;
	struct pvq_chain chain;

	pvq_rig_init(&rig, 8, 0, RIG_INDIRECT);
	for (unsigned int i = 0; i < 7; i++)
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(1, 1), 1, &rig), 0);
	CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 7);
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), 1);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(5, 2), 5, &rig), 0);
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), 0);
	CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
	CU_ASSERT_TRUE(same(&rig, &chain, 5, 2));
	CU_ASSERT_EQUAL(chain.ndesc, 1);
	CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(5, 2), 5, &rig), -ENOSPC);
	pvq_rig_fini(&rig);
}

/* What the tables have no room for goes into the ring. */
static void
longer_than_a_table(void)
{
	struct pvq_rig rig;
	struct pvq_chain chain;

	pvq_rig_init(&rig, 16, 15, RIG_INDIRECT);
	for (uint16_t n = 1; n <= 16; n++) {
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(n, n / 2), n, &rig), 0);
		CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), n <= RIG_MAX_SEGS ? 15 : 16 - n);
		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
		CU_ASSERT_TRUE(same(&rig, &chain, n, n / 2));
		pvq_rig_use(&rig, &chain, 0);
		CU_ASSERT_PTR_EQUAL(pvq_packed_next_used(&rig.drv, &(uint32_t){ 0 }), &rig);
	}
	pvq_rig_fini(&rig);
}

/* Descriptors that wait, from empty to full, on every slot of two laps. */
static void
count_what_waits(void)
{
	for (uint64_t start = 0; start < 10; start++) {
		struct pvq_chain chain;
		struct pvq_rig rig;

		pvq_rig_init(&rig, 5, start, 0);
		CU_ASSERT_EQUAL(pvq_packed_count_avail(&rig.dev), 0);
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(2, 0), 2, &rig), 0);
		CU_ASSERT_EQUAL(pvq_packed_count_avail(&rig.dev), 2);
		CU_ASSERT_EQUAL(pvq_packed_add(&rig.drv, pvq_rig_segs(3, 0), 3, &rig), 0);
		CU_ASSERT_EQUAL(pvq_packed_count_avail(&rig.dev), 5);
		CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 1);
		CU_ASSERT_EQUAL(pvq_packed_count_avail(&rig.dev), 3);
		CU_ASSERT_EQUAL(pvq_rig_take(&rig, &chain), 1);
		CU_ASSERT_EQUAL(pvq_packed_count_avail(&rig.dev), 0);
		pvq_rig_fini(&rig);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "put shows nothing, publish all", put_and_publish },
		{ "PK01 a chain fills the ring", pk01_chain_of_the_whole_ring },
		{ "PK03 a chain crosses the end", pk03_chain_across_the_end },
		{ "PK16 a chain of the ring's size, anywhere", pk16_chain_of_ring_size },
		{ "DR03 ids are written again", dr03_ids_are_written_again },
		{ "IN11 a table takes one slot", in11_a_table_takes_one_slot },
		{ "longer than a table", longer_than_a_table },
		{ "descriptors that wait", count_what_waits },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: add", tests);
}
