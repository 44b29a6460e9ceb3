/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Translation, against a model that looks at one byte after the other. */

#include <errno.h>
#include <string.h>

#include "pvq_driver.h"

#define TOP (UINT64_MAX - 63)

/* Regions are small, so that every address in and around them can be tried. */
struct window {
	const char *what;
	uint64_t first; /* the first address to try, and how many; they may pass 2^64 */
	unsigned int count;
	struct {
		uint64_t addr;
		uint64_t size;
	} region[3];
	unsigned int nregions;
};

static const struct window windows[] = {
	{ "one", 0x0ff0, 64, { { 0x1000, 24 } }, 1 },
	{ "one byte", 0x0ffe, 4, { { 0x1000, 1 } }, 1 },
	{ "neighbours", 0x0ff0, 128, { { 0x1018, 40 }, { 0x1000, 24 }, { 0x1050, 16 } }, 3 },
	{ "from 0", TOP, 128, { { 0, 32 }, { 32, 8 } }, 2 },
	{ "just below 2^64", TOP, 128, { { TOP + 16, 47 } }, 1 },
	{ "both ends", TOP, 128, { { TOP + 24, 39 }, { 0, 32 } }, 2 },
};

static uint8_t *
model_byte(const struct pvq_mem *mem, uint64_t addr)
{
	for (unsigned int i = 0; i < mem->nregions; i++)
		if (addr >= mem->regions[i].addr &&
				addr - mem->regions[i].addr < mem->regions[i].size)
			return mem->regions[i].host + (addr - mem->regions[i].addr);
	return NULL;
}

/* How many of @p len bytes lie in the region that has @p addr. */
static uint64_t
model_run(const struct pvq_mem *mem, uint64_t addr, uint64_t len)
{
	for (unsigned int i = 0; i < mem->nregions; i++)
		if (addr - mem->regions[i].addr < mem->regions[i].size) {
			uint64_t have = mem->regions[i].addr + mem->regions[i].size - addr;

			return have < len ? have : len;
		}
	return 0;
}

static void
check_at(struct pvq_mem_cache *cache, uint64_t addr, uint64_t len)
{
	const struct pvq_mem *mem = cache->mem;
	uint8_t *want = model_byte(mem, addr);
	uint64_t run = model_run(mem, addr, len);
	uint64_t have = len;

	CU_ASSERT_FATAL(pvq_mem_at(cache, addr, &have) == want);
	CU_ASSERT_FATAL(want == NULL || have == run);
	/* it is the last hit now */
	CU_ASSERT_FATAL(want == NULL || addr - cache->last.addr < cache->last.size);
	CU_ASSERT_FATAL(pvq_mem_whole(cache, addr, len) == (run == len ? want : NULL));
}

static void
check_read(struct pvq_mem_cache *cache, uint64_t addr, uint64_t len)
{
	uint8_t got[64];
	int want = 0;

	for (uint64_t i = 0; i < len; i++)
		if (addr + i < addr || model_byte(cache->mem, addr + i) == NULL)
			want = -EFAULT;
	CU_ASSERT_FATAL(pvq_mem_read(cache, addr, got, len) == want);
	for (uint64_t i = 0; want == 0 && i < len; i++)
		CU_ASSERT_FATAL(got[i] == *model_byte(cache->mem, addr + i));
}

/* Each region's own memory, no two bytes alike. */
static void
fill_regions(const struct window *w, struct pvq_mem_region *regions)
{
	uint8_t pattern = 1;

	for (unsigned int i = 0; i < w->nregions; i++) {
		uint64_t size = w->region[i].size;

		regions[i] = (struct pvq_mem_region){ w->region[i].addr, size,
			pvq_guarded_alloc(size) };
		for (unsigned int j = 0; j < size; j++)
			regions[i].host[j] = pattern++;
	}
}

static void
every_address_and_length(void)
{
	static const uint64_t long_len[] = { 1ull << 32, 1ull << 63, UINT64_MAX - 1, UINT64_MAX };

	for (const struct window *w = windows; w < windows + sizeof(windows) / sizeof(*w); w++) {
		struct pvq_mem_region regions[3];
		struct pvq_mem_cache cache;
		struct pvq_mem mem;
		uint64_t rng = 3;

		fill_regions(w, regions);
		CU_ASSERT_EQUAL_FATAL(pvq_mem_init(&mem, regions, w->nregions), 0);
		pvq_mem_cache_init(&cache, &mem);
		/* In no order, so that the last hit is a right, a wrong or a close one. */
		for (unsigned int i = 0; i < 60000; i++) {
			uint64_t addr = w->first + pvq_rand_below(&rng, w->count);
			uint64_t len = pvq_rand_below(&rng, 64);

			check_at(&cache, addr, len);
			check_at(&cache, addr, long_len[i % 4]);
			check_read(&cache, addr, len);
		}
		for (unsigned int i = 0; i < w->nregions; i++)
			pvq_guarded_free(regions[i].host, regions[i].size);
	}
}

static bool
model_refuses(uint64_t a, uint64_t s, uint64_t b, uint64_t t)
{
	__uint128_t a_end = (__uint128_t)a + s, b_end = (__uint128_t)b + t;

	if (s == 0 || t == 0 || a_end > UINT64_MAX || b_end > UINT64_MAX)
		return true;
	return (a > b ? a : b) < (a_end < b_end ? a_end : b_end);
}

/* Empty, wrapping, overlapping: every pair of small regions at both ends and in the middle. */
static void
init_refuses(void)
{
	static const uint64_t base[] = { 0, 1ull << 63, UINT64_MAX - 8 };
	static const uint64_t size[] = { 0, 1, 2, 3, 9, 1ull << 63, UINT64_MAX - 8, UINT64_MAX };

	for (unsigned int i = 0; i < 3 * 9 * 8 * 3 * 9 * 8; i++) {
		uint64_t a = base[i % 3] + i / 3 % 9, s = size[i / 27 % 8];
		uint64_t b = base[i / 216 % 3] + i / 648 % 9, t = size[i / 5832];
		struct pvq_mem_region regions[] = { { a, s, NULL }, { b, t, NULL } };
		struct pvq_mem mem = { NULL, 99 };
		int want = model_refuses(a, s, b, t) ? -EINVAL : 0;

		CU_ASSERT_FATAL(pvq_mem_init(&mem, regions, 2) == want);
		CU_ASSERT_FATAL(mem.nregions == (want < 0 ? 99 : 2));
	}
}

static void
init_takes_no_region(void)
{
	struct pvq_mem_cache cache;
	struct pvq_mem mem;
	uint64_t len = 1;

	CU_ASSERT_EQUAL_FATAL(pvq_mem_init(&mem, NULL, 0), 0);
	pvq_mem_cache_init(&cache, &mem);
	CU_ASSERT_PTR_NULL(pvq_mem_at(&cache, 0, &len));
}

/* The last hit of a table is not taken for one of the next table. */
static void
cache_forgets(void)
{
	uint8_t bytes[2] = { 1, 2 };
	struct pvq_mem_region old = { 0x1000, 1, &bytes[0] }, new = { 0x1000, 1, &bytes[1] };
	struct pvq_mem old_mem, new_mem, no_mem;
	struct pvq_mem_cache cache;

	pvq_mem_init(&old_mem, &old, 1);
	pvq_mem_init(&new_mem, &new, 1);
	pvq_mem_init(&no_mem, NULL, 0);
	pvq_mem_cache_init(&cache, &old_mem);
	CU_ASSERT_PTR_EQUAL(pvq_mem_whole(&cache, 0x1000, 1), &bytes[0]);
	pvq_mem_cache_init(&cache, &new_mem);
	CU_ASSERT_PTR_EQUAL(pvq_mem_whole(&cache, 0x1000, 1), &bytes[1]);
	pvq_mem_cache_init(&cache, &no_mem);
	CU_ASSERT_PTR_NULL(pvq_mem_whole(&cache, 0x1000, 1));
}

static void
mm01_up_to_the_end(void)
{
	uint8_t bytes[4096];
	struct pvq_mem_region region = { 0x10000, sizeof(bytes), bytes };
	uint64_t end = region.addr + region.size;
	struct pvq_mem_cache cache;
	struct pvq_mem mem;

	pvq_mem_init(&mem, &region, 1);
	pvq_mem_cache_init(&cache, &mem);
	CU_ASSERT_PTR_EQUAL(pvq_mem_whole(&cache, end - 64, 64), bytes + sizeof(bytes) - 64);
	CU_ASSERT_PTR_NULL(pvq_mem_whole(&cache, end - 64, 65));
}

static void
mm03_no_bytes_nowhere(void)
{
	uint8_t bytes[4096];
	struct pvq_mem_region region = { 0x10000, sizeof(bytes), bytes };
	struct pvq_mem_cache cache;
	struct pvq_mem mem;

	pvq_mem_init(&mem, &region, 1);
	pvq_mem_cache_init(&cache, &mem);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t len = 0;

		CU_ASSERT_PTR_NULL(pvq_mem_at(&cache, 0xdead0000, &len));
		CU_ASSERT_PTR_NULL(pvq_mem_whole(&cache, 0xdead0000, 0));
		CU_ASSERT_PTR_NULL(pvq_mem_whole(&cache, 0xdead0000, 64));
		/* once more with a last hit */
		CU_ASSERT_PTR_NOT_NULL(pvq_mem_whole(&cache, 0x10000, 0));
	}
}

/* Neighbours in driver memory, in the reverse order here: never taken for one piece. */
static void
mm11_each_from_its_own(void)
{
	uint8_t host[32], got[32];
	struct pvq_mem_region regions[] = { { 0x1000, 16, host + 16 }, { 0x1010, 16, host } };
	struct pvq_mem_cache cache;
	struct pvq_mem mem;
	uint64_t len = 32;

	memset(host, 'B', 16);
	memset(host + 16, 'A', 16);
	pvq_mem_init(&mem, regions, 2);
	pvq_mem_cache_init(&cache, &mem);
	CU_ASSERT_PTR_EQUAL(pvq_mem_at(&cache, 0x1000, &len), host + 16);
	CU_ASSERT_EQUAL(len, 16);
	CU_ASSERT_PTR_NULL(pvq_mem_whole(&cache, 0x100f, 2));
	CU_ASSERT_EQUAL(pvq_mem_read(&cache, 0x1000, got, 32), 0);
	CU_ASSERT_EQUAL(memcmp(got, "AAAAAAAAAAAAAAAABBBBBBBBBBBBBBBB", 32), 0);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "every address and length around small regions", every_address_and_length },
		{ "init refuses empty, wrapping and overlapping regions", init_refuses },
		{ "init takes no region at all", init_takes_no_region },
		{ "a new table forgets the last hit", cache_forgets },
		{ "MM01 a buffer up to the region's end", mm01_up_to_the_end },
		{ "MM03 an unmapped address of length 0", mm03_no_bytes_nowhere },
		{ "MM11 adjacent regions of different memory", mm11_each_from_its_own },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq memory", tests);
}
