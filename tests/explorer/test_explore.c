/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The explorer itself: of small recordings the number of images is known. */

#include "explore.h"
#include "pvq_driver.h"

static bool
any_image(const void *arg)
{
	(void)arg;
	return true;
}

/* A reader that wants the second word never without the first. */
static bool
second_not_without_first(const void *arg)
{
	const uint32_t *word = arg;

	return word[1] == 0 || word[0] != 0;
}

static uint32_t word[4];

static void
any_order(void)
{
	struct explored e;

	record_begin();
	for (unsigned int i = 0; i < 4; i++)
		pvq_store(&word[i], 1);
	record_end();
	CU_ASSERT_EQUAL(explore(any_image, NULL).images, 16);
	e = explore(second_not_without_first, word);
	CU_ASSERT_TRUE(e.images == 16 && e.bad == 4);
	CU_ASSERT_TRUE(word[0] == 1 && word[3] == 1);
}

/* None, 3 of the first epoch, 3 more of the second. */
static void
write_barrier(void)
{
	record_begin();
	for (unsigned int i = 0; i < 4; i++) {
		if (i == 2)
			pvq_write_barrier();
		pvq_store(&word[i], 2);
	}
	record_end();
	CU_ASSERT_EQUAL(explore(any_image, NULL).images, 7);
}

/* The one orders no stores, the other does. */
static void
read_barrier_and_full_fence(void)
{
	record_begin();
	pvq_store(&word[0], 3);
	pvq_read_barrier();
	pvq_store(&word[1], 3);
	pvq_full_fence();
	pvq_store(&word[2], 3);
	record_end();
	CU_ASSERT_EQUAL(explore(any_image, NULL).images, 5);
}

/* It keeps the two before it before it, and the one after it may pass it. */
static void
release(void)
{
	record_begin();
	pvq_store(&word[0], 4);
	pvq_store(&word[1], 4);
	pvq_store_release(&word[2], 4);
	pvq_store(&word[3], 4);
	record_end();
	CU_ASSERT_EQUAL(explore(any_image, NULL).images, 2 * (4 + 1));
}

/* One of three touches only half of what the others do. */
static void
one_place(void)
{
	record_begin();
	pvq_store(&word[0], 5);
	pvq_store((uint16_t *)(void *)&word[0] + 1, 5);
	pvq_store(&word[0], 6);
	record_end();
	CU_ASSERT_EQUAL(explore(any_image, NULL).images, 4);
	CU_ASSERT_EQUAL(pvq_load(&word[0]), 6);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "stores in any order", any_order },
		{ "a write barrier", write_barrier },
		{ "a read barrier and a full fence", read_barrier_and_full_fence },
		{ "a release store", release },
		{ "stores to one place", one_place },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("explorer", tests);
}
