/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Rings that no driver should make. Each is survived, costs its own slots only, and the next
 * buffer is served. The ring and all memory end at pages that fault.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_driver.h"

#define N VRING_DESC_F_NEXT
#define W VRING_DESC_F_WRITE
#define I VRING_DESC_F_INDIRECT

/* Driver memory: two neighbours, a gap, a third. All of it is table entries; entry k at
 * LOW + 16 * k has address 0x5000 + k, length k, and every flag but WRITE, that on odd k only.
 */
#define LOW 0x10000
#define HIGH 0x10100
#define GAP 0x10200
#define LAST 0x10300
#define ENTRY(k) (LOW + 16 * (k))

struct slot {
	uint64_t addr;
	uint32_t len;
	uint16_t id;
	uint16_t flags; /* AVAIL and USED are added */
};

#define ENDLESS                                                                                    \
	{ 0, 9, 0, N }, { 1, 9, 1, N }, { 2, 9, 2, N }, { 3, 9, 3, N }, { 4, 9, 4, N },            \
			{ 5, 9, 5, N }, { 6, 9, 6, N },                                            \
	{                                                                                          \
		7, 9, 7, N                                                                         \
	}

static const struct row {
	const char *what;
	uint16_t size, start;
	struct slot slot[8];
	int ret;
	uint16_t ndesc, nsegs, id;
} rows[] = {
	{ "endless chain", 8, 0, { ENDLESS }, -EINVAL, 8, 8, 7 },
	{ "endless chain from the middle", 8, 13, { ENDLESS }, -EINVAL, 8, 8, 7 },
	{ "endless chain of one", 1, 0, { ENDLESS }, -EINVAL, 1, 1, 0 },
	{ "circle of three", 3, 2, { ENDLESS }, -EINVAL, 3, 3, 2 },
	{ "IN05 INDIRECT|NEXT", 8, 0, { { LOW, 32, 1, I | N }, { 0, 9, 2, 0 } }, -EINVAL, 1, 0, 1 },
	{ "IN05 NEXT in the last entry", 8, 0, { { LOW, 32, 1, I } }, 1, 1, 2, 1 },
	{ "IN07 table ends a chain", 8, 0, { { 1, 9, 0, N }, { LOW, 32, 2, I } }, -EINVAL, 2, 1,
			2 },
	{ "IN07 WRITE on a table", 8, 0, { { LOW, 32, 1, I | W } }, 1, 1, 2, 1 },
	{ "nested table", 8, 0, { { ENTRY(2), 16, 1, I } }, 1, 1, 1, 1 },
	{ "empty table", 8, 0, { { LOW, 0, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "empty table nowhere", 8, 0, { { 0, 0, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "IN03 table of 15 bytes", 8, 0, { { LOW, 15, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "IN03 table of 24 bytes", 8, 0, { { LOW, 24, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "table nowhere", 8, 0, { { 0xdead0000, 32, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "table below memory", 8, 0, { { LOW - 16, 32, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "IN01 table beyond memory", 64, 0, { { LAST + 0xe0, 16 * 64, 1, I } }, -EINVAL, 1, 2, 1 },
	{ "table over two regions", 8, 0, { { HIGH - 32, 64, 1, I } }, 1, 1, 4, 1 },
	{ "entry over two regions", 8, 0, { { HIGH - 24, 16, 1, I } }, 1, 1, 1, 1 },
	{ "table over a gap", 8, 0, { { GAP - 16, 48, 1, I } }, -EINVAL, 1, 1, 1 },
	{ "entry over a gap", 8, 0, { { GAP - 8, 16, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "table up to 2^64", 8, 0, { { UINT64_MAX - 15, 16, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "table past 2^64", 8, 0, { { UINT64_MAX - 15, 32, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "IN09 table of ring size", 16, 3, { { LOW, 16 * 16, 1, I } }, 1, 1, 16, 1 },
	{ "IN09 table of one more", 16, 3, { { LOW, 16 * 17, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "table of 4 GiB", 8, 0, { { LOW, 0xfffffff0, 1, I } }, -EINVAL, 1, 0, 1 },
	{ "MM03 no bytes nowhere", 8, 0, { { 0xdead0000, 0, 1, 0 } }, 1, 1, 1, 1 },
	{ "4 GiB", 8, 0, { { LOW, UINT32_MAX, 1, W } }, 1, 1, 1, 1 },
	{ "past 2^64", 8, 0, { { UINT64_MAX, UINT32_MAX, 1, 0 } }, 1, 1, 1, 1 },
	{ "PK20 lengths past 4 GiB", 8, 0,
			{ { LOW, 1u << 31, 0, N }, { LOW, 1u << 31, 0, N },
					{ LOW, 1u << 31, 1, 0 } },
			1, 3, 3, 1 },
	{ "id of ring size", 8, 7, { { LOW, 9, 8, 0 } }, 1, 1, 1, 8 },
	{ "id 65535", 1, 1, { { LOW, 9, 0xffff, W } }, 1, 1, 1, 0xffff },
	{ "all other flags", 8, 0, { { LOW, 9, 1, 0xffff & ~(N | I) } }, 1, 1, 1, 1 },
};

static struct pvq_pair p;

static void
add_tables(uint64_t addr)
{
	struct vring_packed_desc *d = pvq_pair_add_memory(&p, addr, 0x100);

	for (unsigned int i = 0; i < 16; i++) {
		unsigned int k = (addr - LOW) / 16 + i;

		d[i] = (struct vring_packed_desc){ .addr = 0x5000 + k,
			.len = k,
			.id = ~k,
			.flags = k % 2 ? 0xffff : 0xffff & ~W };
	}
}

static void
begin(uint16_t size, uint64_t start)
{
	pvq_pair_init(&p, size, start, false);
	add_tables(LOW);
	add_tables(HIGH);
	add_tables(LAST);
}

static void
write_slot(uint64_t pos, struct slot s)
{
	pvq_driver_write(&p.drv, pos, s.addr, s.len, s.id,
			(s.flags & ~0x8080) | pvq_driver_avail_flags(&p.drv, pos));
}

/* What a good table gives: entry k has its own address, length and direction. */
static void
check_entries(const struct pvq_chain *chain, uint64_t addr)
{
	for (unsigned int i = 0; i < chain->nsegs && addr % 16 == 0; i++) {
		unsigned int k = (addr - LOW) / 16 + i;

		CU_ASSERT_EQUAL(chain->segs[i].addr, 0x5000 + k);
		CU_ASSERT_EQUAL(chain->segs[i].len, k);
		CU_ASSERT_EQUAL(chain->segs[i].write, k % 2);
	}
}

/* Give @p chain back, at slot @p pos; nothing else of the ring changes. */
static void
give_back(const struct pvq_chain *chain, uint64_t pos)
{
	size_t bytes = p.drv.size * sizeof(p.drv.desc[0]);
	struct vring_packed_desc *want = malloc(bytes);

	memcpy(want, p.drv.desc, bytes);
	want[pos % p.drv.size].len = 0;
	want[pos % p.drv.size].id = chain->id;
	want[pos % p.drv.size].flags = pvq_driver_used_flags(&p.drv, pos);
	pvq_packed_push_used(&p.dev, chain->id, 0, chain->ndesc);
	pvq_packed_flush_used(&p.dev, NULL);
	CU_ASSERT_EQUAL(memcmp(want, p.drv.desc, bytes), 0);
	CU_ASSERT_EQUAL(p.dev.taken, 0);
	free(want);
}

static void
still_serves(uint64_t pos)
{
	struct pvq_chain chain;

	write_slot(pos, (struct slot){ 0x7000, 60, 3, 0 });
	CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), 1);
	CU_ASSERT_TRUE(chain.id == 3 && chain.ndesc == 1 && chain.nsegs == 1);
	CU_ASSERT_TRUE(chain.segs[0].addr == 0x7000 && chain.segs[0].len == 60);
	give_back(&chain, pos);
}

static void
bad_rings(void)
{
	for (const struct row *r = rows; r < rows + sizeof(rows) / sizeof(rows[0]); r++) {
		unsigned int failures = CU_get_number_of_failures();
		struct pvq_chain chain;
		struct pvq_single single;

		begin(r->size, r->start);
		for (uint64_t i = r->size < 8 ? r->size : 8; i-- > 0;)
			write_slot(r->start + i, r->slot[i]);
		if (r->slot[0].flags & (N | I))
			CU_ASSERT_EQUAL(pvq_packed_next_singles(&p.dev, &single, 1, false), 0);
		CU_ASSERT_EQUAL(pvq_pair_take(&p, &chain), r->ret);
		CU_ASSERT_EQUAL(chain.ndesc, r->ndesc);
		CU_ASSERT_EQUAL(chain.nsegs, r->nsegs);
		CU_ASSERT_EQUAL(chain.id, r->id);
		CU_ASSERT_TRUE(chain.segs == p.segs.seg && p.segs.n == r->nsegs);
		if (r->slot[0].flags & I)
			check_entries(&chain, r->slot[0].addr);
		give_back(&chain, r->start);
		still_serves(r->start + r->ndesc);
		if (CU_get_number_of_failures() != failures)
			fprintf(stderr, "\n  row %td: %s", r - rows, r->what);
		pvq_pair_fini(&p);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "IN01 IN03 IN05 IN07 IN09 MM03 PK20 and other bad rings", bad_rings },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq hostile rings", tests);
}
