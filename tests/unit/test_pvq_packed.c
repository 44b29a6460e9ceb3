/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The device half, case by case. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_driver.h"

static struct pvq_pair p;

/* Make @p n direct descriptors available that begin at address @p addr; as one chain. */
static int
add_chain(uint16_t n, uint64_t addr)
{
	struct pvq_seg *seg = calloc(n, sizeof(seg[0]));
	int id;

	for (uint16_t i = 0; i < n; i++)
		seg[i] = (struct pvq_seg){ .addr = addr + i, .len = 100 + i, .write = i % 2 };
	id = pvq_driver_add(&p.drv, seg, n, 0);
	free(seg);
	return id;
}

/* Take the chain that add_chain() made. */
static void
take_chain(uint16_t n, uint64_t addr, int id)
{
	struct pvq_chain chain;

	CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&p, &chain), 1);
	CU_ASSERT_EQUAL_FATAL(chain.id, id);
	CU_ASSERT_EQUAL_FATAL(chain.ndesc, n);
	CU_ASSERT_EQUAL_FATAL(chain.nsegs, n);
	for (uint16_t i = 0; i < n; i++) {
		CU_ASSERT_FATAL(chain.segs[i].addr == addr + i);
		CU_ASSERT_FATAL(chain.segs[i].len == 100u + i);
		CU_ASSERT_FATAL(chain.segs[i].write == i % 2);
	}
}

static bool
nothing_available(void)
{
	struct pvq_single single;
	struct pvq_chain chain;

	return pvq_pair_take(&p, &chain) == 0 &&
	       pvq_packed_next_singles(&p.dev, &single, 1, false) == 0 &&
	       pvq_packed_next_singles(&p.dev, &single, 1, true) == 0;
}

static void
give_back(int id, uint32_t len, uint16_t ndesc)
{
	struct pvq_driver_used used;

	pvq_packed_push_used(&p.dev, id, len, ndesc);
	CU_ASSERT_FALSE_FATAL(pvq_driver_poll(&p.drv, &used));
	pvq_packed_flush_used(&p.dev, NULL);
	CU_ASSERT_TRUE_FATAL(pvq_driver_poll(&p.drv, &used));
	CU_ASSERT_EQUAL_FATAL(used.id, id);
	CU_ASSERT_EQUAL_FATAL(used.len, len);
	CU_ASSERT_EQUAL_FATAL(used.ndesc, ndesc);
	CU_ASSERT_EQUAL_FATAL(used.flags, len > 0 ? VRING_DESC_F_WRITE : 0);
	CU_ASSERT_FALSE_FATAL(pvq_driver_poll(&p.drv, &used));
}

/* 70,000 buffers through a ring whose size does not divide 65,536, at three depths. */
static void
pk05_size_1000_past_65536(void)
{
	static const unsigned int depths[] = { 1, 333, 1000 };

	for (unsigned int d = 0; d < 3; d++) {
		pvq_pair_init(&p, 1000, 0, false);
		for (uint32_t sent = 0; sent < 70000; sent += depths[d]) {
			struct pvq_driver_used used;
			int id[1000];

			for (unsigned int i = 0; i < depths[d]; i++)
				id[i] = add_chain(1, sent + i);
			for (unsigned int i = 0; i < depths[d]; i++) {
				take_chain(1, sent + i, id[i]);
				pvq_packed_push_used(&p.dev, id[i], sent + i, 1);
			}
			CU_ASSERT_TRUE_FATAL(nothing_available());
			pvq_packed_flush_used(&p.dev, NULL);
			for (unsigned int i = 0; i < depths[d]; i++) {
				CU_ASSERT_TRUE_FATAL(pvq_driver_poll(&p.drv, &used));
				CU_ASSERT_FATAL(used.id == id[i] && used.len == sent + i);
			}
			CU_ASSERT_FALSE_FATAL(pvq_driver_poll(&p.drv, &used));
		}
		pvq_pair_fini(&p);
	}
}

/* On either lap one of the four patterns of AVAIL and USED is available. */
static void
pk07_both_bits_count(void)
{
	static const uint16_t flags[] = { 0x8080, 0x0000, 0x8000, 0x0080 };

	for (uint64_t start = 0; start <= 8; start += 8) {
		for (unsigned int i = 0; i < 4; i++) {
			bool want = flags[i] == (start == 0 ? 0x0080 : 0x8000);
			struct pvq_single single;
			struct pvq_chain chain;

			pvq_pair_init(&p, 8, start, false);
			pvq_driver_write(&p.drv, start, 0x1000, 60, 5, flags[i]);
			CU_ASSERT_EQUAL(pvq_packed_next_singles(&p.dev, &single, 1, false), want);
			pvq_pair_fini(&p);
			pvq_pair_init(&p, 8, start, false);
			pvq_driver_write(&p.drv, start, 0x1000, 60, 5, flags[i]);
			CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), want);
			CU_ASSERT_EQUAL(p.dev.avail.idx, want);
			CU_ASSERT_EQUAL(p.dev.taken, want);
			pvq_pair_fini(&p);
		}
	}
}

static void
pk09_start_inside_the_ring(void)
{
	static const struct {
		uint16_t size, base;
		int ret;
	} row[] = {
		{ 256, 300, -EINVAL },
		{ 256, 0x8000 + 256, -EINVAL },
		{ 256, 256, -EINVAL },
		{ 256, 255, 0 },
		{ 256, 0x80ff, 0 },
		{ 1, 1, -EINVAL },
		{ 1, 0, 0 },
		{ 0, 0, -EINVAL },
		{ 32769, 0, -EINVAL },
		{ 65535, 0, -EINVAL },
		{ 32768, 0xffff, 0 },
		{ 32768, 0, 0 },
	};

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct pvq_packed_dev_conf conf = { .size = row[i].size };
		struct pvq_packed_dev dev = { 0 };

		conf.base = pvq_cursor_unpack(row[i].base);
		CU_ASSERT_EQUAL(pvq_packed_dev_init(&dev, &conf), row[i].ret);
		if (row[i].ret < 0)
			continue;
		CU_ASSERT_EQUAL(pvq_cursor_pack(dev.avail), row[i].base);
		CU_ASSERT_EQUAL(pvq_cursor_pack(dev.used), row[i].base);
		pvq_packed_dev_fini(&dev);
	}
}

static void
pk10_chain_over_the_end(void)
{
	int id;

	pvq_pair_init(&p, 8, 7, false);
	id = add_chain(3, 0x1000);
	/* As the case has it: the flags of slots 0 and 1 are of the next lap. */
	CU_ASSERT_EQUAL(p.drv.desc[7].flags & 0x8080, 0x0080);
	CU_ASSERT_EQUAL(p.drv.desc[0].flags & 0x8080, 0x8000);
	take_chain(3, 0x1000, id);
	CU_ASSERT_EQUAL(pvq_cursor_pack(p.dev.avail), 0x0002);
	give_back(id, 1514, 3);
	CU_ASSERT_EQUAL(pvq_cursor_pack(p.dev.used), 0x0002);
	/* Only slot 7 was written. */
	CU_ASSERT_EQUAL(p.drv.desc[7].flags, 0x8082);
	CU_ASSERT_EQUAL(p.drv.desc[0].len, 101);
	CU_ASSERT_EQUAL(p.drv.desc[0].flags & 0x8080, 0x8000);
	CU_ASSERT_EQUAL(p.drv.desc[1].len, 102);
	CU_ASSERT_EQUAL(p.drv.desc[1].flags & 0x8080, 0x8000);
	id = add_chain(1, 0x2000);
	take_chain(1, 0x2000, id);
	give_back(id, 0, 1);
	pvq_pair_fini(&p);
}

/* That id and len are not seen later than the flags is the explorer's part. */
static void
pk12_id_of_the_last(void)
{
	struct pvq_chain chain;

	pvq_pair_init(&p, 8, 0, false);
	pvq_driver_write(&p.drv, 1, 0x2000, 60, 0xbbbb, 0x0080 | VRING_DESC_F_NEXT);
	pvq_driver_write(&p.drv, 2, 0x3000, 60, 7, 0x0080);
	pvq_driver_write(&p.drv, 0, 0x1000, 60, 0xaaaa, 0x0080 | VRING_DESC_F_NEXT);
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 1);
	CU_ASSERT_EQUAL(chain.id, 7);
	CU_ASSERT_EQUAL(chain.ndesc, 3);
	pvq_packed_push_used(&p.dev, chain.id, 180, chain.ndesc);
	pvq_packed_flush_used(&p.dev, NULL);
	CU_ASSERT_EQUAL(*pvq_packed_word(&p.drv.desc[0]), 0x80820007000000b4);
	pvq_pair_fini(&p);
}

/* One chain as long as the ring, from each slot of two laps. */
static void
pk16_chain_of_ring_size(void)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8, 96, 256, 1000, 32768 };

	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		uint32_t stride = sizes[s] > 8 ? sizes[s] / 3 : 1;

		for (uint64_t start = 0; start < 2u * sizes[s]; start += stride) {
			pvq_pair_init(&p, sizes[s], start, false);
			for (unsigned int laps = 0; laps < 3; laps++) {
				int id = add_chain(sizes[s], laps);

				take_chain(sizes[s], laps, id);
				CU_ASSERT_TRUE_FATAL(nothing_available());
				give_back(id, laps, sizes[s]);
			}
			pvq_pair_fini(&p);
		}
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "PK05 size 1000 past 65,536 buffers", pk05_size_1000_past_65536 },
		{ "PK07 both AVAIL and USED tell", pk07_both_bits_count },
		{ "PK09 size and first slot have limits", pk09_start_inside_the_ring },
		{ "PK10 a chain over the ring's end", pk10_chain_over_the_end },
		{ "PK12 the id of the last descriptor", pk12_id_of_the_last },
		{ "PK16 a chain of ring size", pk16_chain_of_ring_size },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed device", tests);
}
