/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What a driver does over time that it should not: the device half never takes more than the
 * ring has, and never more than there is room for.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_driver.h"

#define N VRING_DESC_F_NEXT
#define I VRING_DESC_F_INDIRECT

#define TABLE 0x10000

static struct pvq_pair p;

static void
begin(uint16_t size, uint64_t start)
{
	pvq_pair_init(&p, size, start, false);
	pvq_pair_add_memory(&p, TABLE, 128);
}

/* Make slot @p pos available on its lap. */
static void
write_slot(uint64_t pos, uint16_t id, uint16_t flags)
{
	pvq_driver_write(&p.drv, pos, TABLE, 32, id, flags | pvq_driver_avail_flags(&p.drv, pos));
}

/* Every value of the head's flags, on either lap, in front of a good second descriptor. */
static void
every_flags(void)
{
	for (uint64_t start = 0; start <= 4; start++) {
		struct pvq_packed_mark mark;

		begin(2, start);
		mark = pvq_packed_mark(&p.dev);
		write_slot(start + 1, 4, 0);
		for (uint32_t f = 0; f <= UINT16_MAX; f++) {
			struct pvq_chain chain = { .ndesc = 99 };
			int want = (f & N) && (f & I) ? -EINVAL : 1;

			if ((f & 0x8080) != pvq_driver_avail_flags(&p.drv, start))
				want = 0;
			pvq_driver_write(&p.drv, start, TABLE, 32, 5, f);
			CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&p, &chain), want);
			if (want == 0)
				CU_ASSERT_EQUAL_FATAL(chain.ndesc, 99);
			if (want < 0)
				CU_ASSERT_FATAL(chain.ndesc == 1 && chain.id == 5);
			if (want > 0) {
				CU_ASSERT_FATAL(chain.ndesc == ((f & N) ? 2 : 1));
				CU_ASSERT_FATAL(chain.nsegs == ((f & (N | I)) ? 2 : 1));
				CU_ASSERT_FATAL(chain.id == ((f & N) ? 4 : 5));
			}
			pvq_packed_rewind(&p.dev, mark);
		}
		pvq_pair_fini(&p);
	}
}

/* With every slot of the next lap marked early, no more are taken than the ring has. */
static void
next_lap_too_early(void)
{
	for (uint16_t size = 1; size <= 8; size++) {
		for (uint64_t start = 0; start < 2u * size; start++) {
			struct pvq_single got[16];
			struct pvq_chain chain;
			uint16_t n = 0;

			begin(size, start);
			for (uint64_t pos = start; pos < start + size; pos++)
				write_slot(pos, pos, 0);
			while (n < size) {
				uint16_t more = pvq_packed_next_singles(&p.dev, got, 16, false);

				CU_ASSERT_FATAL(more > 0 && n + more <= size);
				for (uint16_t i = 0; i < more; i++, n++)
					write_slot(start + n + size, 99, 0);
			}
			CU_ASSERT_EQUAL(pvq_packed_next_singles(&p.dev, got, 16, false), 0);
			CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 0);
			CU_ASSERT_EQUAL(p.dev.taken, size);
			/* One given back is room for one more; its chain is cut there. */
			pvq_packed_push_used(&p.dev, 0, 0, 1);
			pvq_packed_flush_used(&p.dev, NULL);
			write_slot(start + size, 77, N);
			CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), -EINVAL);
			CU_ASSERT_TRUE(chain.ndesc == 1 && chain.id == 77);
			CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 0);
			CU_ASSERT_EQUAL(p.dev.taken, size);
			pvq_pair_fini(&p);
		}
	}
}

/* Available, not available any more, available again: before and after it was taken. */
static void
flags_that_flip_back(void)
{
	struct pvq_single single;
	struct pvq_chain chain;

	begin(3, 2);
	write_slot(2, 1, 0);
	pvq_driver_write(&p.drv, 2, TABLE, 32, 1, 0);
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 0);
	CU_ASSERT_EQUAL(pvq_packed_next_singles(&p.dev, &single, 1, false), 0);
	CU_ASSERT_EQUAL(pvq_packed_enable_kick(&p.dev, NULL), true);
	write_slot(2, 1, 0);
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 1);
	pvq_driver_write(&p.drv, 2, 0, 0, 99, N);
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 0);
	pvq_packed_push_used(&p.dev, 1, 32, 1);
	pvq_packed_flush_used(&p.dev, NULL);
	CU_ASSERT_EQUAL(*pvq_packed_word(&p.drv.desc[2]), pvq_packed_word_make(32, 1, 0x8082));
	pvq_pair_fini(&p);
}

/* The flags of a chain's other descriptors do not matter, as a driver has written them before
 * the head's: only NEXT does.
 */
static void
chain_into_unavailable_slots(void)
{
	struct pvq_chain chain;

	begin(8, 6);
	write_slot(6, 1, N);
	pvq_driver_write(&p.drv, 7, TABLE, 32, 2, N);
	pvq_driver_write(&p.drv, 8, TABLE, 32, 3, 0);
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 1);
	CU_ASSERT_TRUE(chain.ndesc == 3 && chain.id == 3);
	pvq_pair_fini(&p);
}

/* An id is the driver's own matter: no table here is indexed by it. */
static void
repeated_ids(void)
{
	begin(8, 0);
	for (uint64_t pos = 0; pos < 8; pos++)
		write_slot(pos, 0xfff0, 0);
	for (unsigned int i = 0; i < 8; i++) {
		struct pvq_chain chain;

		CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 1);
		CU_ASSERT_EQUAL(chain.id, 0xfff0);
		pvq_packed_push_used(&p.dev, chain.id, i, 1);
	}
	pvq_packed_flush_used(&p.dev, NULL);
	for (unsigned int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(*pvq_packed_word(&p.drv.desc[i]),
				pvq_packed_word_make(i, 0xfff0, i > 0 ? 0x8082 : 0x8080));
	pvq_pair_fini(&p);
}

/* However many bad buffers come, they cost one slot each and end with the ring. */
static void
endless_supply_of_bad_buffers(void)
{
	static const uint16_t bad[] = { N | I, I, N };

	for (unsigned int i = 0; i < 3; i++) {
		struct pvq_chain chain;
		unsigned int n = 0;

		pvq_pair_init(&p, 256, 100, false); /* no table can be read */
		for (uint64_t pos = 100; pos < 100 + 256; pos++)
			write_slot(pos, pos, bad[i]);
		while (pvq_pair_take(&p, &chain) != 0) {
			CU_ASSERT_FATAL(chain.ndesc > 0);
			pvq_packed_push_used(&p.dev, chain.id, 0, chain.ndesc);
			CU_ASSERT_FATAL(++n <= 256);
		}
		CU_ASSERT_EQUAL(p.dev.taken, 256);
		pvq_packed_flush_used(&p.dev, NULL);
		CU_ASSERT_EQUAL(p.dev.taken, 0);
		pvq_pair_fini(&p);
	}
}

/* A buffer that there is no room for is broken, but takes the slots that its driver expects. */
static void
too_many_segments(void)
{
	for (uint32_t cap = 0; cap < 5; cap++) {
		struct pvq_chain chain;

		begin(8, 6);
		p.segs.cap = cap;
		for (uint64_t pos = 6; pos < 10; pos++)
			write_slot(pos, pos, N);
		write_slot(10, 10, 0);
		CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), -EINVAL);
		CU_ASSERT_TRUE(chain.ndesc == 5 && chain.id == 10);
		CU_ASSERT_TRUE(chain.nsegs == cap && p.segs.n == cap);
		p.segs.cap = 5;
		write_slot(11, 11, 0);
		CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 1);
		CU_ASSERT_TRUE(chain.ndesc == 1 && chain.id == 11);
		/* the same with a table of eight */
		pvq_driver_write(
				&p.drv, 12, TABLE, 128, 12, I | pvq_driver_avail_flags(&p.drv, 12));
		CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), -EINVAL);
		CU_ASSERT_TRUE(chain.ndesc == 1 && chain.id == 12 && chain.nsegs == 5);
		pvq_pair_fini(&p);
	}
}

/* There is room for any one buffer: the longest chain, the longest table. */
static void
room_for_any_buffer(void)
{
	for (uint32_t size = 1; size <= PVQ_MAX_SIZE; size++)
		CU_ASSERT_FATAL(pvq_segs_cap(size) >= size);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "every value of the flags", every_flags },
		{ "next lap's flags too early", next_lap_too_early },
		{ "flags that flip back", flags_that_flip_back },
		{ "a chain into unavailable slots", chain_into_unavailable_slots },
		{ "repeated ids out of range", repeated_ids },
		{ "an endless supply of bad buffers", endless_supply_of_bad_buffers },
		{ "more segments than there is room for", too_many_segments },
		{ "room for any one buffer", room_for_any_buffer },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq bounds", tests);
}
