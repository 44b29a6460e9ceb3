/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Split ring, device half, against a driver that writes what it likes. */

#include <errno.h>
#include <string.h>

#include "pvq_split_rig.h"

static struct split_rig rig;
static struct pvq_chain chain;

/* What take() gives, and how many segments. */
#define TAKE(ret, n)                                                                               \
	do {                                                                                       \
		CU_ASSERT_EQUAL_FATAL(split_rig_take(&rig, &chain), ret);                          \
		CU_ASSERT_EQUAL_FATAL(chain.nsegs, n);                                             \
	} while (0)

static void
give_back(uint32_t len)
{
	pvq_split_push_used(&rig.dev, chain.id, len);
	pvq_split_flush_used(&rig.dev, NULL);
}

/* A plain buffer at @p head is taken and given back: the ring is well. */
static void
serves(uint16_t head)
{
	split_rig_desc(&rig, head, SPLIT_DATA_ADDR, 64, 0, 0);
	split_rig_offer(&rig, head);
	TAKE(1, 1);
	CU_ASSERT_EQUAL(chain.id, head);
	give_back(0);
	CU_ASSERT_EQUAL(rig.used->idx, rig.dev.used);
}

static void
sp01_index_wraps(void)
{
	split_rig_init(&rig, 256, 65534, 0);
	for (uint16_t i = 0; i < 3; i++) {
		split_rig_desc(&rig, 10 + i, SPLIT_DATA_ADDR + i, 64, 0, 0);
		split_rig_offer(&rig, 10 + i);
	}
	for (uint16_t i = 0; i < 3; i++) {
		TAKE(1, 1);
		CU_ASSERT_EQUAL(chain.id, 10 + i);
		pvq_split_push_used(&rig.dev, chain.id, i);
	}
	CU_ASSERT_EQUAL(rig.used->idx, 65534);
	pvq_split_flush_used(&rig.dev, NULL);
	CU_ASSERT_EQUAL(rig.used->idx, 1);
	CU_ASSERT_EQUAL(rig.used->ring[254].id, 10);
	CU_ASSERT_EQUAL(rig.used->ring[255].id, 11);
	CU_ASSERT_EQUAL(rig.used->ring[0].id, 12);
	CU_ASSERT_EQUAL(rig.used->ring[0].len, 2);
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), 0);
	split_rig_fini(&rig);
}

static void
sp03_full_ring(void)
{
	struct pvq_single single[8];

	split_rig_init(&rig, 4, 65535, 0);
	for (uint16_t i = 0; i < 4; i++) {
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR, 64, 0, 0);
		split_rig_offer(&rig, i);
	}
	CU_ASSERT_EQUAL(pvq_split_nb_avail(&rig.dev), 4);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 3, false), 3);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single + 3, 8, false), 1);
	pvq_split_push_singles(&rig.dev, single, 4, false);
	pvq_split_flush_used(&rig.dev, NULL);
	CU_ASSERT_EQUAL(rig.used->idx, 3);
	for (uint16_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(rig.used->ring[i].len, 0); /* they were only read */
	split_rig_fini(&rig);
}

static void
sp05_used_names_the_head(void)
{
	split_rig_init(&rig, 16, 0, 0);
	split_rig_desc(&rig, 5, SPLIT_DATA_ADDR, 600, PVQ_F_NEXT | PVQ_F_WRITE, 2);
	split_rig_desc(&rig, 2, SPLIT_DATA_ADDR + 600, 600, PVQ_F_NEXT | PVQ_F_WRITE, 9);
	split_rig_desc(&rig, 9, SPLIT_DATA_ADDR + 1200, 600, PVQ_F_WRITE, 3);
	split_rig_offer(&rig, 5);
	TAKE(1, 3);
	CU_ASSERT_EQUAL(chain.ndesc, 3);
	CU_ASSERT_TRUE(chain.segs[2].addr == SPLIT_DATA_ADDR + 1200 && chain.segs[2].write);
	give_back(12 + 1500);
	CU_ASSERT_EQUAL(rig.used->ring[0].id, 5);
	CU_ASSERT_EQUAL(rig.used->ring[0].len, 1512);
	split_rig_fini(&rig);
}

static void
pk16_chain_of_ring_size(void)
{
	split_rig_init(&rig, 8, 0, 0);
	for (uint16_t i = 0; i < 8; i++)
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR + i, 1, i < 7 ? PVQ_F_NEXT : 0, i + 1);
	split_rig_offer(&rig, 0);
	TAKE(1, 8);
	split_rig_desc(&rig, 7, SPLIT_DATA_ADDR, 1, PVQ_F_NEXT, 0); /* and one without an end */
	give_back(0);
	split_rig_offer(&rig, 0);
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), -EINVAL);
	CU_ASSERT_EQUAL(chain.id, 0);
	CU_ASSERT_EQUAL(chain.ndesc, 8);
	give_back(0);
	serves(3);
	split_rig_fini(&rig);
}

static void
pk18_out_of_the_table(void)
{
	static const uint16_t heads[] = { 16, 17, 0x7fff, 0xffff };
	struct pvq_single single;

	split_rig_init(&rig, 16, 65530, 0);
	for (unsigned int i = 0; i < 4; i++) {
		split_rig_offer(&rig, heads[i]);
		CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, &single, 1, false), 0);
		CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), -ENXIO);
		CU_ASSERT_EQUAL(rig.dev.taken, 0);
		split_rig_desc(&rig, 0, SPLIT_DATA_ADDR, 64, PVQ_F_NEXT, heads[i]);
		split_rig_offer(&rig, 0);
		CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), -EINVAL);
		give_back(0);
		serves(2);
	}
	split_rig_fini(&rig);
}

/* The engine tells what the driver said; whoever adds the lengths up has 64 bits to do it in. */
static void
pk20_lengths_beyond_32_bits(void)
{
	uint64_t sum = 0;

	split_rig_init(&rig, 4, 0, 0);
	for (uint16_t i = 0; i < 3; i++)
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR, 0x80000000, i < 2 ? PVQ_F_NEXT : 0, i + 1);
	split_rig_offer(&rig, 0);
	TAKE(1, 3);
	for (uint16_t i = 0; i < 3; i++)
		sum += chain.segs[i].len;
	CU_ASSERT_TRUE(sum == UINT64_C(0x180000000));
	/* What the driver half is asked to add is refused. */
	CU_ASSERT_EQUAL(pvq_segs_writable(chain.segs, 3), -EINVAL);
	split_rig_fini(&rig);
}

/* An indirect descriptor for the table that is in the data: its entries are of 8 bytes. */
static void
offer_table(uint32_t len, uint16_t n, uint16_t flags)
{
	struct vring_desc d;

	for (uint16_t i = 0; i < n; i++) {
		d = (struct vring_desc){ SPLIT_DATA_ADDR + 2048 + i * 8, 8,
			i + 1 < n ? PVQ_F_NEXT : 0, i + 1 };
		memcpy(&rig.data[i * sizeof(d)], &d, sizeof(d));
	}
	split_rig_desc(&rig, 0, SPLIT_DATA_ADDR, len, PVQ_F_INDIRECT | flags, 1);
	split_rig_offer(&rig, 0);
}

static void
set_entry(uint16_t i, uint16_t flags, uint16_t next)
{
	struct vring_desc d = { SPLIT_DATA_ADDR, 8, flags, next };

	memcpy(&rig.data[i * sizeof(d)], &d, sizeof(d));
}

static void
broken(void)
{
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), -EINVAL);
	give_back(0);
	serves(1);
}

static void
in01_table_beyond_memory(void)
{
	split_rig_init(&rig, 16, 0, 0);
	split_rig_desc(&rig, 0, SPLIT_DATA_ADDR + SPLIT_DATA_BYTES - 2 * 16, 16 * 16,
			PVQ_F_INDIRECT, 0);
	memset(&rig.data[SPLIT_DATA_BYTES - 32], 0, 32);
	rig.data[SPLIT_DATA_BYTES - 32 + 12] = PVQ_F_NEXT;
	rig.data[SPLIT_DATA_BYTES - 32 + 14] = 1;
	rig.data[SPLIT_DATA_BYTES - 16 + 12] = PVQ_F_NEXT;
	rig.data[SPLIT_DATA_BYTES - 16 + 14] = 2;
	split_rig_offer(&rig, 0);
	broken();
	split_rig_desc(&rig, 0, 0xdead0000, 16, PVQ_F_INDIRECT, 0); /* MM03: and nowhere at all */
	split_rig_offer(&rig, 0);
	broken();
	split_rig_fini(&rig);
}

/* The segments of chains that are worked on at one time lie one behind the other. */
static void
several_chains(void)
{
	struct pvq_chain second;

	split_rig_init(&rig, 8, 0, 0);
	split_rig_desc(&rig, 0, SPLIT_DATA_ADDR, 1, PVQ_F_NEXT, 1);
	split_rig_desc(&rig, 1, SPLIT_DATA_ADDR + 1, 1, 0, 0);
	split_rig_desc(&rig, 2, SPLIT_DATA_ADDR + 2, 1, 0, 0);
	split_rig_offer(&rig, 0);
	split_rig_offer(&rig, 2);
	TAKE(1, 2);
	CU_ASSERT_EQUAL(pvq_split_next_avail(&rig.dev, &second, &rig.segs), 1);
	CU_ASSERT_PTR_EQUAL(second.segs, chain.segs + 2);
	CU_ASSERT_TRUE(chain.segs[0].addr == SPLIT_DATA_ADDR &&
			second.segs[0].addr == SPLIT_DATA_ADDR + 2);
	split_rig_fini(&rig);
}

static void
in03_partial_entry(void)
{
	static const uint32_t lens[] = { 0, 15, 24, 33 };

	split_rig_init(&rig, 16, 0, 0);
	for (unsigned int i = 0; i < 4; i++) {
		offer_table(lens[i], 2, 0);
		broken();
	}
	split_rig_fini(&rig);
}

static void
in05_misshapen_tables(void)
{
	split_rig_init(&rig, 16, 0, 0);
	offer_table(32, 2, PVQ_F_NEXT); /* INDIRECT and NEXT */
	broken();
	offer_table(48, 3, 0);
	set_entry(1, PVQ_F_INDIRECT, 0); /* a table in a table */
	broken();
	offer_table(48, 3, 0);
	set_entry(2, PVQ_F_NEXT, 3); /* beyond it */
	broken();
	offer_table(48, 3, 0);
	set_entry(3, 0, 0);
	set_entry(0, PVQ_F_NEXT, 3); /* at once */
	broken();
	offer_table(48, 3, 0);
	set_entry(2, PVQ_F_NEXT, 0); /* round and round */
	broken();
	offer_table(48, 3, 0);
	set_entry(0, PVQ_F_NEXT, 2); /* one left out is legal */
	TAKE(1, 2);
	split_rig_fini(&rig);
}

static void
in07_direct_then_table(void)
{
	split_rig_init(&rig, 16, 0, 0);
	offer_table(32, 2, 0);
	split_rig_desc(&rig, 7, SPLIT_DATA_ADDR, 32, PVQ_F_INDIRECT | PVQ_F_WRITE, 0);
	split_rig_desc(&rig, 0, SPLIT_DATA_ADDR + 1024, 12, PVQ_F_NEXT, 7);
	TAKE(1, 3);
	CU_ASSERT_EQUAL(chain.ndesc, 2);
	CU_ASSERT_EQUAL(chain.segs[0].len, 12);
	for (unsigned int i = 0; i < 3; i++)
		CU_ASSERT_FALSE(chain.segs[i].write);
	split_rig_fini(&rig);
}

static void
in09_table_as_long_as_the_ring(void)
{
	split_rig_init(&rig, 16, 0, 0);
	offer_table(16 * 16, 16, 0);
	TAKE(1, 16);
	give_back(0);
	offer_table(17 * 16, 17, 0);
	broken();
	for (uint16_t i = 0; i < 16; i++)
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR, 1, i < 15 ? PVQ_F_NEXT : 0, i + 1);
	split_rig_offer(&rig, 0);
	TAKE(1, 16);
	split_rig_fini(&rig);
}

static void
no_room_for_segments(void)
{
	split_rig_init(&rig, 16, 0, 0);
	rig.segs.cap = 3;
	for (uint16_t i = 0; i < 4; i++)
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR, 1, i < 3 ? PVQ_F_NEXT : 0, i + 1);
	split_rig_offer(&rig, 0);
	broken();
	offer_table(64, 4, 0);
	broken();
	split_rig_fini(&rig);
}

/* An index that runs ahead of the ring can mean nothing: the ring is broken, and says so. */
static void
index_runs_ahead(void)
{
	struct pvq_single single[4];

	split_rig_init(&rig, 4, 65533, 0);
	rig.avail->idx = 2; /* five ahead */
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), 0);
	CU_ASSERT_TRUE(rig.dev.broken);
	rig.avail->idx = 65533 + 1;
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 4, false), 0);
	CU_ASSERT_TRUE(pvq_split_enable_kick(&rig.dev, NULL));
	split_rig_fini(&rig);
}

/* All the driver's memory may change behind the device's back; a lap's worth is all it can hold. */
static void
never_more_than_a_ring(void)
{
	struct pvq_single single[16];

	split_rig_init(&rig, 4, 0, 0);
	for (uint16_t i = 0; i < 4; i++) {
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR, 64, 0, 0);
		split_rig_offer(&rig, i);
	}
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 16, false), 4);
	split_rig_offer(&rig, 0);
	split_rig_offer(&rig, 1);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 16, false), 0);
	CU_ASSERT_EQUAL(split_rig_take(&rig, &chain), 0);
	pvq_split_push_singles(&rig.dev, single, 1, false);
	pvq_split_flush_used(&rig.dev, NULL);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 16, false), 1);
	split_rig_fini(&rig);
}

/* A run ends at the first buffer of another shape; what is put back is found again. */
static void
singles_and_others(void)
{
	struct pvq_single single[8];
	struct pvq_split_mark mark;

	split_rig_init(&rig, 8, 65533, 0);
	for (uint16_t i = 0; i < 6; i++) {
		split_rig_desc(&rig, i, SPLIT_DATA_ADDR + i, 10 + i, i == 4 ? PVQ_F_WRITE : 0, 0);
		split_rig_offer(&rig, i);
	}
	mark = pvq_split_mark(&rig.dev);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 8, true), 0);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 8, false), 4);
	CU_ASSERT_TRUE(single[3].addr == SPLIT_DATA_ADDR + 3 && single[3].len == 13);
	pvq_split_keep(&rig.dev, mark, 3);
	mark = pvq_split_mark(&rig.dev);
	TAKE(1, 1);
	CU_ASSERT_EQUAL(chain.id, 3);
	pvq_split_push_used(&rig.dev, 3, 1);
	pvq_split_rewind(&rig.dev, mark);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 1, false), 1);
	CU_ASSERT_EQUAL(single[0].id, 3);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 8, true), 1);
	CU_ASSERT_EQUAL(single[0].id, 4);
	pvq_split_push_singles(&rig.dev, single, 1, true);
	pvq_split_flush_used(&rig.dev, NULL);
	CU_ASSERT_EQUAL(rig.used->ring[65533 % 8].len, 14);
	offer_table(32, 2, 0); /* neither is a table one, nor a chain */
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 1, false), 1);
	CU_ASSERT_EQUAL(single[0].id, 5);
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 1, false), 0);
	rig.desc[0].flags = PVQ_F_NEXT;
	CU_ASSERT_EQUAL(pvq_split_next_singles(&rig.dev, single, 1, false), 0);
	CU_ASSERT_EQUAL(rig.dev.taken, 5);
	split_rig_fini(&rig);
}

static void
place_and_init(void)
{
	static const uint16_t bad[] = { 0, 3, 100, 32769, 65535 };
	struct pvq_split_dev_conf conf = { .mem = &rig.mem };
	struct pvq_split_drv drv;

	split_rig_init(&rig, 256, 0, SPLIT_EVENT_IDX);
	for (unsigned int i = 0; i < 5; i++) {
		conf.size = bad[i];
		CU_ASSERT_EQUAL(pvq_split_dev_init(&rig.dev, &conf), -EINVAL);
		CU_ASSERT_EQUAL(pvq_split_drv_init(&drv,
						&(struct pvq_split_drv_conf){ .size = bad[i] }),
				-EINVAL);
	}
	CU_ASSERT_EQUAL(pvq_split_drv_init(&drv,
					&(struct pvq_split_drv_conf){ .size = 4, .table_segs = 5 }),
			-EINVAL);
	conf.size = 256;
	conf.event_idx = true;
#define PLACE(d, a, u)                                                                             \
	pvq_split_dev_place(&conf, SPLIT_DESC_ADDR + (d), SPLIT_AVAIL_ADDR + (a),                  \
			SPLIT_USED_ADDR + (u))
	CU_ASSERT_EQUAL(PLACE(0, 0, 0), 0);
	CU_ASSERT_EQUAL(PLACE(8, 0, 0), -EINVAL);
	CU_ASSERT_EQUAL(PLACE(0, 1, 0), -EINVAL);
	CU_ASSERT_EQUAL(PLACE(0, 0, 2), -EINVAL);
	CU_ASSERT_EQUAL(PLACE(16, 0, 0), -EFAULT);
	CU_ASSERT_EQUAL(PLACE(0, 2, 0), -EFAULT); /* MM05: the event index is part of it */
	CU_ASSERT_EQUAL(PLACE(0, 0, 4), -EFAULT);
	conf.event_idx = false;
	CU_ASSERT_EQUAL(PLACE(0, 2, 0), 0);
	split_rig_fini(&rig);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "SP01 the index wraps", sp01_index_wraps },
		{ "SP03 a full ring", sp03_full_ring },
		{ "SP05 a used entry names the head", sp05_used_names_the_head },
		{ "PK16 a chain of the ring's size", pk16_chain_of_ring_size },
		{ "PK18 heads and links out of the table", pk18_out_of_the_table },
		{ "PK20 lengths beyond 32 bits", pk20_lengths_beyond_32_bits },
		{ "IN01 a table beyond memory", in01_table_beyond_memory },
		{ "IN03 a table with a part of an entry", in03_partial_entry },
		{ "IN05 misshapen tables", in05_misshapen_tables },
		{ "IN07 a direct descriptor, then a table", in07_direct_then_table },
		{ "IN09 a table as long as the ring", in09_table_as_long_as_the_ring },
		{ "no room for segments", no_room_for_segments },
		{ "several chains at one time", several_chains },
		{ "an index that runs ahead", index_runs_ahead },
		{ "never more than a ring", never_more_than_a_ring },
		{ "runs of single descriptors, and others", singles_and_others },
		{ "MM05 where rings may lie", place_and_init },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq split device", tests);
}
