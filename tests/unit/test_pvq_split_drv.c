/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Split ring, driver half: against the real device half, and one that writes what it likes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_split_rig.h"

#define LAP 65536

static struct split_rig rig;

static int
add(uint16_t n, uint16_t nread, uint64_t number)
{
	return pvq_split_add(&rig.drv, split_rig_segs(n, nread), n, split_rig_token(number));
}

/* The device gives back what is not checked by anyone. */
static void
use(uint32_t id, uint32_t len)
{
	uint16_t idx = rig.used->idx;

	rig.used->ring[idx % rig.size] = (struct vring_used_elem){ id, len };
	pvq_store_release(&rig.used->idx, idx + 1);
}

/* Is the next buffer back that with @p number? */
static void
comes_back(uint64_t number, uint32_t len)
{
	uint32_t got;

	CU_ASSERT_PTR_EQUAL_FATAL(pvq_split_next_used(&rig.drv, &got), split_rig_token(number));
	CU_ASSERT_EQUAL_FATAL(got, len);
}

static void
nothing_back(void)
{
	uint32_t len;

	CU_ASSERT_PTR_NULL_FATAL(pvq_split_next_used(&rig.drv, &len));
}

/* Chains of all lengths, read and write parts, whole and again, on every ring. */
static void
shapes_on(struct split_rig *r)
{
	const uint16_t most = r->size < 20 ? r->size : 20;
	struct pvq_chain chain;

	rig = *r;
	for (uint16_t n = 1; n <= most; n++)
		for (uint16_t nread = 0; nread <= n; nread++) {
			CU_ASSERT_EQUAL_FATAL(add(n, nread, n), 0);
			CU_ASSERT_EQUAL_FATAL(pvq_split_capacity(&rig.drv),
					rig.size - split_rig_slots(&rig, n));
			CU_ASSERT_EQUAL_FATAL(split_rig_take(&rig, &chain), 1);
			CU_ASSERT_EQUAL_FATAL(chain.nsegs, n);
			for (uint16_t i = 0; i < n; i++) {
				const struct pvq_seg *want = &split_rig_segs(n, nread)[i];

				CU_ASSERT_FATAL(chain.segs[i].addr == want->addr &&
						chain.segs[i].len == want->len &&
						chain.segs[i].write == want->write);
			}
			pvq_split_push_used(&rig.dev, chain.id, 5);
			nothing_back();
			pvq_split_flush_used(&rig.dev, NULL);
			comes_back(n, nread < n ? 5 : 0); /* cut to what may be written */
			CU_ASSERT_EQUAL_FATAL(pvq_split_capacity(&rig.drv), rig.size);
		}
	*r = rig;
}

static void
all_shapes(void)
{
	split_rig_each(shapes_on);
}

static void
nothing_before_publish(void)
{
	struct pvq_chain chain;

	split_rig_init(&rig, 8, 65533, 0);
	for (uint64_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(pvq_split_put(&rig.drv, split_rig_segs(1, 0), 1,
						split_rig_token(i)),
				0);
		CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), 0);
	}
	pvq_split_publish(&rig.drv);
	CU_ASSERT_EQUAL(pvq_split_nb_avail(&rig.dev), 5);
	split_rig_fini(&rig);
}

/* An add that is refused leaves the ring as it was, byte for byte. */
static void
refused(int ret, uint16_t n, const struct pvq_seg *segs, void *token)
{
	const size_t desc = rig.size * sizeof(rig.desc[0]);
	const size_t avail = pvq_split_avail_bytes(rig.size, rig.flags & SPLIT_EVENT_IDX);
	void *before[] = { malloc(desc), malloc(avail) };
	struct pvq_split_drv drv = rig.drv;

	memcpy(before[0], rig.desc, desc);
	memcpy(before[1], rig.avail, avail);
	CU_ASSERT_EQUAL(pvq_split_put(&rig.drv, segs, n, token), ret);
	pvq_split_publish(&rig.drv);
	CU_ASSERT_EQUAL(memcmp(before[0], rig.desc, desc), 0);
	CU_ASSERT_EQUAL(memcmp(before[1], rig.avail, avail), 0);
	CU_ASSERT_EQUAL(memcmp(&drv, &rig.drv, sizeof(drv)), 0);
	free(before[0]);
	free(before[1]);
}

static void
dr05_dr07_refusals(void)
{
	const struct pvq_seg wrong[] = { { .len = 4, .write = true }, { .len = 4 } };
	const struct pvq_seg huge[] = { { .len = UINT32_MAX }, { .len = 1 } };

	split_rig_init(&rig, 8, 0, 0);
	refused(-EINVAL, 0, split_rig_segs(1, 0), &rig); /* DR07 */
	refused(-EINVAL, 2, wrong, &rig);
	refused(-EINVAL, 2, huge, &rig);
	refused(-EINVAL, 1, split_rig_segs(1, 0), NULL);
	CU_ASSERT_EQUAL(add(3, 0, 1), 0);
	CU_ASSERT_EQUAL(add(3, 0, 2), 0);
	refused(-ENOSPC, 3, split_rig_segs(3, 0), &rig); /* DR05 */
	CU_ASSERT_EQUAL(add(2, 0, 3), 0);
	CU_ASSERT_EQUAL(pvq_split_capacity(&rig.drv), 0);
	refused(-ENOSPC, 1, split_rig_segs(1, 0), &rig);
	split_rig_serve(&rig, 60);
	comes_back(1, 60);
	rig.drv.broken = true;
	refused(-EIO, 1, split_rig_segs(1, 0), &rig);
	split_rig_fini(&rig);
}

static void
in11_a_table_takes_one(void)
{
	struct pvq_chain chain;

	split_rig_init(&rig, 8, 0, SPLIT_INDIRECT);
	for (uint64_t i = 0; i < 7; i++)
		CU_ASSERT_EQUAL(add(1, 0, i), 0);
	CU_ASSERT_EQUAL(add(5, 2, 7), 0);
	CU_ASSERT_EQUAL(pvq_split_capacity(&rig.drv), 0);
	for (uint64_t i = 0; i < 7; i++)
		split_rig_serve(&rig, 0);
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), 1);
	CU_ASSERT_EQUAL(chain.nsegs, 5);
	CU_ASSERT_EQUAL(chain.ndesc, 1);
	split_rig_fini(&rig);
}

static void
length_is_cut(void)
{
	split_rig_init(&rig, 8, 0, 0);
	CU_ASSERT_EQUAL(add(3, 1, 1), 0);
	split_rig_serve(&rig, UINT32_MAX);
	comes_back(1, 120); /* two of 60 may be written */
	CU_ASSERT_EQUAL(add(1, 0, 2), 0);
	split_rig_serve(&rig, 61);
	comes_back(2, 60);
	split_rig_fini(&rig);
}

/* A number of entries is nothing without the tables. */
static void
no_tables(void)
{
	struct pvq_split_drv_conf conf = { .size = 8, .table_segs = 4 };
	struct pvq_split_drv drv;

	split_rig_init(&rig, 8, 0, 0);
	conf.desc = rig.desc;
	conf.avail_ring = rig.avail;
	conf.used_ring = rig.used;
	CU_ASSERT_EQUAL_FATAL(pvq_split_drv_init(&drv, &conf), 0);
	CU_ASSERT_EQUAL(pvq_split_add(&drv, split_rig_segs(3, 1), 3, &rig), 0);
	CU_ASSERT_EQUAL(pvq_split_capacity(&drv), 5);
	pvq_split_drv_fini(&drv);
	split_rig_fini(&rig);
}

/* Out of order, and the free list goes on as it comes. */
static void
out_of_order(void)
{
	static const unsigned int order[] = { 2, 0, 3, 1 };
	struct pvq_chain chain[4];

	split_rig_init(&rig, 8, 65534, 0);
	for (unsigned int round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < 4; i++)
			CU_ASSERT_EQUAL_FATAL(add(1 + i % 2, 0, i), 0);
		for (unsigned int i = 0; i < 4; i++)
			CU_ASSERT_EQUAL_FATAL(split_rig_take(&rig, &chain[i]), 1);
		for (unsigned int i = 0; i < 4; i++)
			pvq_split_push_used(&rig.dev, chain[order[i]].id, order[i]);
		pvq_split_flush_used(&rig.dev, NULL);
		for (unsigned int i = 0; i < 4; i++)
			comes_back(order[i], order[i]);
		nothing_back();
		CU_ASSERT_EQUAL_FATAL(pvq_split_capacity(&rig.drv), 8);
	}
	split_rig_fini(&rig);
}

/* What breaks the ring; then nothing comes back, and nobody is told to go on. */
static void
breaks(void (*what)(void))
{
	uint32_t position;

	split_rig_init(&rig, 8, 65534, 0);
	CU_ASSERT_EQUAL(add(2, 0, 1), 0); /* heads 0 and 2 */
	CU_ASSERT_EQUAL(add(1, 0, 2), 0);
	position = pvq_split_position(&rig.drv);
	what();
	for (unsigned int i = 0; i < 3; i++)
		nothing_back();
	CU_ASSERT_TRUE(rig.drv.broken);
	CU_ASSERT_FALSE(pvq_split_poll(&rig.drv, position));
	CU_ASSERT_FALSE(pvq_split_must_kick(&rig.drv));
	CU_ASSERT_TRUE(pvq_split_enable_cb(&rig.drv));
	CU_ASSERT_TRUE(pvq_split_enable_cb_delayed(&rig.drv));
	CU_ASSERT_EQUAL(add(1, 0, 3), -EIO);
	split_rig_fini(&rig);
}

static void
id_of_a_tail(void)
{
	use(1, 0);
}

static void
id_beyond_the_ring(void)
{
	use(8, 0);
}

static void
id_beyond_16_bits(void)
{
	use(0x10000, 0);
}

static void
id_twice(void)
{
	use(2, 0);
	comes_back(2, 0);
	use(2, 0);
}

static void
index_ahead(void)
{
	use(0, 0);
	use(2, 0);
	rig.used->idx = 1; /* three ahead, of two lent */
}

static void
dr09_marked(void)
{
	use(0, 0);
	rig.drv.broken = true;
}

static void
broken_rings(void)
{
	breaks(id_of_a_tail);
	breaks(id_beyond_the_ring);
	breaks(id_beyond_16_bits);
	breaks(id_twice);
	breaks(index_ahead);
	breaks(dr09_marked);
}

/* The driver reads nothing that it alone writes: scribbled over, that changes nothing. */
static void
shadows(void)
{
	struct pvq_chain chain;

	split_rig_init(&rig, 8, 100, 0);
	CU_ASSERT_EQUAL(add(3, 1, 1), 0);
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), 1);
	memset(rig.desc, 0xff, 8 * sizeof(rig.desc[0]));
	memset(rig.avail, 0xff, pvq_split_avail_bytes(8, false));
	pvq_split_push_used(&rig.dev, chain.id, 9);
	pvq_split_flush_used(&rig.dev, NULL);
	comes_back(1, 9);
	for (uint64_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(add(2, 1, i), 0);
	CU_ASSERT_EQUAL(rig.avail->idx, 105);
	for (uint64_t i = 0; i < 4; i++) {
		split_rig_serve(&rig, i);
		comes_back(i, i);
	}
	CU_ASSERT_EQUAL(rig.avail->flags, 0xffff);
	pvq_split_disable_cb(&rig.drv);
	CU_ASSERT_EQUAL(rig.avail->flags, VRING_AVAIL_F_NO_INTERRUPT);
	split_rig_fini(&rig);
}

/* A position is the same again after a whole lap of the index, unless laps are counted. */
static void
position_and_poll(void)
{
	for (unsigned int counted = 0; counted < 2; counted++) {
		uint32_t position;

		split_rig_init(&rig, 8, 65534, 0);
		rig.drv.use_wrap_counter = counted;
		position = pvq_split_position(&rig.drv);
		CU_ASSERT_FALSE(pvq_split_poll(&rig.drv, position));
		CU_ASSERT_EQUAL(add(1, 0, 0), 0);
		split_rig_serve(&rig, 0);
		CU_ASSERT_TRUE(pvq_split_poll(&rig.drv, position));
		comes_back(0, 0);
		CU_ASSERT_TRUE(pvq_split_poll(&rig.drv, position));
		CU_ASSERT_FALSE(pvq_split_poll(&rig.drv, pvq_split_position(&rig.drv)));
		CU_ASSERT_EQUAL(rig.drv.wraps, 0);
		split_rig_pass(&rig, 1, 1);
		CU_ASSERT_EQUAL(rig.drv.wraps, counted); /* from 65535 to 0 */
		split_rig_pass(&rig, LAP - 2, 1);
		CU_ASSERT_EQUAL(pvq_split_poll(&rig.drv, position), counted);
		CU_ASSERT_EQUAL(rig.drv.wraps, counted);
		split_rig_fini(&rig);
	}
}

static void
dr01_detach_then_add(void)
{
	for (unsigned int flags = 0; flags <= SPLIT_ALL_FLAGS; flags++) {
		unsigned int seen = 0;

		split_rig_init(&rig, 8, 65534, flags);
		split_rig_pass(&rig, 3, 2);
		for (uint64_t i = 0; i < 3; i++)
			CU_ASSERT_EQUAL(add(2, 0, i), 0);
		for (unsigned int i = 0; i < 3; i++)
			seen |= 1u << ((uintptr_t)pvq_split_detach_unused(&rig.drv) - 1);
		CU_ASSERT_EQUAL(seen, 7);
		CU_ASSERT_PTR_NULL(pvq_split_detach_unused(&rig.drv));
		CU_ASSERT_EQUAL(pvq_split_capacity(&rig.drv), 8);
		CU_ASSERT_EQUAL(pvq_split_nb_avail(&rig.dev), 0);
		split_rig_pass(&rig, 30, 2);
		split_rig_fini(&rig);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "all shapes", all_shapes },
		{ "nothing before publish", nothing_before_publish },
		{ "DR05, DR07 an add that is refused", dr05_dr07_refusals },
		{ "IN11 a table takes one descriptor", in11_a_table_takes_one },
		{ "a length is cut to what there is room for", length_is_cut },
		{ "no tables", no_tables },
		{ "out of order", out_of_order },
		{ "DR09 broken rings", broken_rings },
		{ "shared memory is not read back", shadows },
		{ "positions, with wraps counted and not", position_and_poll },
		{ "DR01 detach, then add", dr01_detach_then_add },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq split driver", tests);
}
