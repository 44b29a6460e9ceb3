/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Taking many buffers at once, and taking them back. */

#include <stdlib.h>
#include <string.h>

#include "pvq_driver.h"

#define MEM_ADDR 0x10000
#define MEM_SIZE 512

static void
begin(struct pvq_pair *p, uint16_t size, uint64_t start)
{
	uint8_t *bytes;

	pvq_pair_init(p, size, start, false);
	bytes = pvq_pair_add_memory(p, MEM_ADDR, MEM_SIZE);
	for (unsigned int i = 0; i < MEM_SIZE; i++)
		bytes[i] = i * 7; /* the indirect tables that chance makes */
}

static int
add_single(struct pvq_pair *h, uint64_t addr)
{
	return pvq_driver_add(&h->drv, &(struct pvq_seg){ .addr = addr, .len = addr + 1 }, 1, 0);
}

static void
pk14_batches_end_with_the_ring(void)
{
	static const uint16_t bursts[] = { 1, 3, 4, 5, 7 };

	for (unsigned int b = 0; b < sizeof(bursts) / sizeof(bursts[0]); b++) {
		struct pvq_pair h;
		uint64_t taken = 8;

		begin(&h, 10, 8);
		while (taken < 500) {
			struct pvq_single got[10];
			uint64_t to_end = 10 - taken % 10;
			uint16_t n, want = bursts[b] < to_end ? bursts[b] : to_end;
			struct pvq_driver_used used;

			while (add_single(&h, h.drv.avail) >= 0)
				;
			n = pvq_packed_next_singles(&h.dev, got, bursts[b], false);
			CU_ASSERT_EQUAL_FATAL(n, want);
			for (uint16_t i = 0; i < n; i++, taken++) {
				CU_ASSERT_FATAL(got[i].addr == taken && got[i].len == taken + 1);
				pvq_packed_push_used(&h.dev, got[i].id, i * 60, 1);
			}
			pvq_packed_flush_used(&h.dev, NULL);
			for (uint16_t i = 0; i < n; i++) {
				CU_ASSERT_TRUE_FATAL(pvq_driver_poll(&h.drv, &used));
				CU_ASSERT_FATAL(used.id == got[i].id && used.len == i * 60u);
			}
			CU_ASSERT_FALSE_FATAL(pvq_driver_poll(&h.drv, &used));
		}
		pvq_pair_fini(&h);
	}
}

/* A slot of any content: mostly available, mostly of one descriptor, else anything. */
static void
write_random(struct pvq_pair *a, struct pvq_pair *b, uint64_t pos, uint64_t *rng)
{
	static const uint16_t shape[] = { 0, 0, 0, 0, 0, 2, 2, 2, 1, 3, 4, 6, 5, 0xffff };
	uint16_t flags = shape[pvq_rand_below(rng, 14)] & ~0x8080;
	uint64_t addr = MEM_ADDR - 32 + pvq_rand_below(rng, MEM_SIZE + 64);
	uint32_t len = pvq_rand_below(rng, 8) ? pvq_rand_below(rng, 6) * 16 : pvq_rand(rng);
	uint16_t id = pvq_rand(rng);

	flags |= pvq_rand_below(rng, 16) ? pvq_driver_avail_flags(&a->drv, pos)
					 : pvq_rand(rng) & 0x8080;
	pvq_driver_write(&a->drv, pos, addr, len, id, flags);
	pvq_driver_write(&b->drv, pos, addr, len, id, flags);
}

/* A batch, or else a buffer of another shape, whatever comes; each has to come from @p a, too. */
static int
take_same(struct pvq_pair *a, struct pvq_pair *b, uint64_t *rng)
{
	bool write = pvq_rand_below(rng, 2);
	struct pvq_chain one, other;
	struct pvq_single got[8];
	uint16_t n = pvq_packed_next_singles(&b->dev, got, 1 + pvq_rand_below(rng, 8), write);
	int ret;

	for (uint16_t i = 0; i < n; i++) {
		CU_ASSERT_FATAL(pvq_pair_take(a, &one) == 1);
		CU_ASSERT_FATAL(one.nsegs == 1 && one.ndesc == 1 && one.id == got[i].id);
		CU_ASSERT_FATAL(one.segs[0].addr == got[i].addr && one.segs[0].len == got[i].len);
		CU_ASSERT_FATAL(one.segs[0].write == write);
		pvq_packed_push_used(&a->dev, got[i].id, write ? got[i].len : 0, 1);
	}
	pvq_packed_push_singles(&b->dev, got, n, write);
	if (n > 0)
		return n;
	ret = pvq_pair_take(a, &one);
	CU_ASSERT_FATAL(pvq_pair_take(b, &other) == ret);
	if (ret == 0)
		return 0;
	CU_ASSERT_FATAL(one.id == other.id && one.ndesc == other.ndesc);
	CU_ASSERT_FATAL(one.ndesc > 0 && one.nsegs == other.nsegs);
	pvq_packed_push_used(&a->dev, one.id, one.nsegs, one.ndesc);
	pvq_packed_push_used(&b->dev, one.id, one.nsegs, one.ndesc);
	return 1;
}

static void
batches_are_single_steps(void)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8, 96 };
	uint64_t rng = 5;

	for (unsigned int i = 0; i < 600; i++) {
		uint16_t size = sizes[i % 6];
		uint64_t pos = pvq_rand_below(&rng, 3 * size);
		struct pvq_pair a, b;

		begin(&a, size, pos);
		begin(&b, size, pos);
		for (unsigned int round = 0; round < 20; round++) {
			/* A full ring; what was not taken of the last one is written over. */
			for (uint16_t j = 0; j < size; j++)
				write_random(&a, &b, pos + j, &rng);
			while (take_same(&a, &b, &rng) > 0)
				;
			CU_ASSERT_FATAL(a.dev.taken <= size);
			CU_ASSERT_FATAL(a.dev.taken == b.dev.taken);
			pos += a.dev.taken;
			pvq_packed_flush_used(&a.dev, NULL);
			pvq_packed_flush_used(&b.dev, NULL);
			CU_ASSERT_FATAL(pvq_cursor_pack(a.dev.avail) ==
					pvq_cursor_pack(b.dev.avail));
			CU_ASSERT_FATAL(pvq_cursor_pack(a.dev.used) == pvq_cursor_pack(b.dev.used));
			CU_ASSERT_FATAL(memcmp(a.drv.desc, b.drv.desc,
							size * sizeof(a.drv.desc[0])) == 0);
		}
		pvq_pair_fini(&a);
		pvq_pair_fini(&b);
	}
}

/* Whatever was taken and noted since the mark is as if it had never been. */
static void
rewind_takes_all_back(void)
{
	const struct pvq_seg seg[3] = { { .addr = 1 }, { .addr = 2 }, { .addr = 3 } };

	for (uint64_t start = 0; start < 20; start++) {
		struct pvq_packed_mark mark;
		struct pvq_single got = { 0 };
		struct pvq_driver_used used;
		struct pvq_chain chain;
		struct pvq_pair h;
		int id[3];

		begin(&h, 5, start);
		id[0] = add_single(&h, 10);
		id[1] = add_single(&h, 11);
		id[2] = pvq_driver_add(&h.drv, seg, 3, 0);
		CU_ASSERT_EQUAL_FATAL(pvq_packed_next_singles(&h.dev, &got, 1, false), 1);
		CU_ASSERT_EQUAL_FATAL(got.id, id[0]);
		pvq_packed_push_used(&h.dev, id[0], 7, 1);
		mark = pvq_packed_mark(&h.dev);
		for (unsigned int i = 0; i < 3; i++) {
			CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&h, &chain), 1);
			CU_ASSERT_EQUAL_FATAL(chain.id, id[1]);
			CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&h, &chain), 1);
			CU_ASSERT_EQUAL_FATAL(chain.id, id[2]);
			CU_ASSERT_EQUAL_FATAL(chain.ndesc, 3);
			CU_ASSERT_EQUAL_FATAL(h.dev.taken, 5);
			pvq_packed_push_used(&h.dev, id[1], 8, 1);
			pvq_packed_push_used(&h.dev, id[2], 9, 3);
			if (i < 2)
				pvq_packed_rewind(&h.dev, mark);
		}
		pvq_packed_flush_used(&h.dev, NULL);
		for (unsigned int i = 0; i < 3; i++) {
			CU_ASSERT_TRUE_FATAL(pvq_driver_poll(&h.drv, &used));
			CU_ASSERT_FATAL(used.id == id[i] && used.len == 7 + i);
		}
		CU_ASSERT_EQUAL(h.dev.taken, 0);
		pvq_pair_fini(&h);
	}
}

/* Of four taken, the first n stay taken and the rest come again. */
static void
keep_some(void)
{
	for (uint64_t i = 0; i < 16 * 5; i++) {
		uint64_t start = i / 5, to_end = 8 - start % 8;
		uint16_t n, keep = i % 5;
		struct pvq_packed_mark mark;
		struct pvq_single got[4];
		struct pvq_pair h;

		begin(&h, 8, start);
		while (add_single(&h, h.drv.avail) >= 0)
			;
		mark = pvq_packed_mark(&h.dev);
		n = pvq_packed_next_singles(&h.dev, got, 4, false);
		CU_ASSERT_EQUAL_FATAL(n, to_end < 4 ? to_end : 4);
		if (keep > n)
			keep = n;
		pvq_packed_keep(&h.dev, mark, keep);
		CU_ASSERT_EQUAL_FATAL(h.dev.taken, keep);
		for (uint64_t pos = start + keep; pos < start + 8; pos++) {
			CU_ASSERT_EQUAL_FATAL(pvq_packed_next_singles(&h.dev, got, 1, false), 1);
			CU_ASSERT_FATAL(got[0].addr == pos);
		}
		/* All are taken, though the ring's flags still say available a lap ago. */
		CU_ASSERT_EQUAL(h.dev.taken, 8);
		CU_ASSERT_EQUAL(pvq_packed_next_singles(&h.dev, got, 4, false), 0);
		pvq_pair_fini(&h);
	}
}

/* A flush of nothing changes nothing. */
static void
flush_nothing(void)
{
	struct vring_packed_desc before[5];
	struct pvq_pair h;

	begin(&h, 5, 3);
	add_single(&h, 1);
	memcpy(before, h.drv.desc, sizeof(before));
	pvq_packed_flush_used(&h.dev, NULL);
	CU_ASSERT_EQUAL(memcmp(before, h.drv.desc, sizeof(before)), 0);
	CU_ASSERT_EQUAL(pvq_cursor_pack(h.dev.used), 0x8003);
	pvq_pair_fini(&h);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "PK14 a batch ends with the ring", pk14_batches_end_with_the_ring },
		{ "batches of random rings are single steps", batches_are_single_steps },
		{ "rewind takes all back", rewind_takes_all_back },
		{ "keep some of a batch", keep_some },
		{ "flush of nothing", flush_nothing },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq batches", tests);
}
