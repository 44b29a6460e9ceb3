/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The dirty log. */

#include <pthread.h>
#include <string.h>

#include "pvu_log.h"
#include "pvu_owner.h"

#define PAGE PVU_LOG_PAGE

static uint8_t map[64 + 2]; /* with a guard at each end */
static struct pvu_log dirty = { map + 1, 64 };

/* Are exactly the pages from @p first on marked, @p n of them? */
static void
marked(uint64_t first, uint64_t n)
{
	CU_ASSERT_TRUE(map[0] == 0 && map[65] == 0);
	for (uint64_t page = 0; page < 512; page++)
		CU_ASSERT_EQUAL(map[1 + page / 8] >> (page % 8) & 1,
				page >= first && page - first < n);
	memset(map, 0, sizeof(map));
}

static void
lg03_by_address(void)
{
	static const struct {
		uint64_t addr, len, first, n;
	} cases[] = {
		{ 0, 1, 0, 1 },
		{ 0, 0, 0, 0 },
		{ PAGE - 1, 1, 0, 1 },
		{ PAGE - 1, 2, 0, 2 },
		{ 7 * PAGE, PAGE, 7, 1 },
		{ 7 * PAGE, 2 * PAGE, 7, 2 },
		{ 7 * PAGE + 1, 2 * PAGE, 7, 3 },
		{ 300 * PAGE + 5, 20 * PAGE, 300, 21 },
		{ 511 * PAGE, PAGE, 511, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		pvu_log_mark(&dirty, cases[i].addr, cases[i].len);
		marked(cases[i].first, cases[i].n);
	}
}

static void
lg07_beyond_the_log(void)
{
	pvu_log_mark(&dirty, 512 * PAGE, PAGE);
	pvu_log_mark(&dirty, UINT64_C(3) << 30, PAGE);
	pvu_log_mark(&dirty, UINT64_MAX, UINT64_MAX);
	pvu_log_mark(&dirty, UINT64_MAX - 10, 100);
	marked(0, 0);
	pvu_log_mark(&dirty, 510 * PAGE, 100 * PAGE);
	marked(510, 2);
	pvu_log_mark(&dirty, 511 * PAGE, UINT64_MAX);
	marked(511, 1);
}

static void *
mark_often(void *page)
{
	uint64_t n = (uintptr_t)page;
	uintptr_t lost = 0;

	for (unsigned int i = 0; i < 1000000; i++) {
		_Atomic uint8_t *byte = (_Atomic uint8_t *)&dirty.map[n / 8];

		pvu_log_mark(&dirty, n * PAGE, 1);
		lost += !(*byte >> n % 8 & 1);
		*byte &= ~(1u << n % 8); /* nobody else takes this bit away */
	}
	return (void *)lost;
}

static void
lg05_neighbouring_bits(void)
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(
				pthread_create(&threads[i], NULL, mark_often, (void *)(8 + i)), 0);
	for (unsigned int i = 0; i < 2; i++) {
		void *lost;

		pthread_join(threads[i], &lost);
		CU_ASSERT_PTR_NULL(lost);
	}
	marked(0, 0);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "LG03: by address", lg03_by_address },
		{ "LG07: beyond the log", lg07_beyond_the_log },
		{ "LG05: neighbouring bits", lg05_neighbouring_bits },
	};

	return run_tests("pvu log", cases, ARRAY_LEN(cases));
}
