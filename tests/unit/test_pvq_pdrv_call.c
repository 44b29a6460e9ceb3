/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, driver's half: calls, and polling without them. */

#include "pvq_packed_rig.h"

static struct pvq_rig rig;
static uint32_t len;
static uint32_t
driver_word(void)
{
	return pvq_load(pvq_packed_event_word(rig.driver_event));
}

/* Slot @p pos as an event word. */
static uint32_t
word_at(uint64_t pos)
{
	return (uint32_t)(pos % rig.size) | (pos / rig.size % 2 == 0 ? 0x8000 : 0) | 2u << 16;
}

static void
add(uint16_t n, unsigned int times)
{
	while (times-- > 0)
		CU_ASSERT_EQUAL_FATAL(pvq_packed_add(&rig.drv, pvq_rig_segs(n, n), n, &rig), 0);
}

static void
nt07_disable_and_enable(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		pvq_rig_init(&rig, 8, 6, i > 0 ? RIG_EVENT_IDX : 0);
		CU_ASSERT_EQUAL(driver_word(), 0);
		for (uint64_t pos = 6; pos < 60; pos += 3) {
			uint32_t flags = i > 0 ? 2u << 16 : 0;

			for (unsigned int again = 0; again < 2; again++) {
				pvq_packed_disable_cb(&rig.drv);
				CU_ASSERT_EQUAL(driver_word() >> 16, 1);
				pvq_packed_disable_cb(&rig.drv);
				CU_ASSERT_EQUAL(driver_word() >> 16, 1);
				CU_ASSERT_TRUE(again ? pvq_packed_enable_cb_delayed(&rig.drv)
						     : pvq_packed_enable_cb(&rig.drv));
				CU_ASSERT_EQUAL(driver_word(), flags | (word_at(pos) & 0xffff));
			}
			pvq_rig_pass(&rig, 3, 1);
		}
		pvq_rig_fini(&rig);
	}
}

/* A driver that asks for calls by position asks for the next one, as long as it does not say
 * otherwise; without EVENT_IDX, or with calls off, its word stays as it is.
 */
static void
event_follows(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
		uint32_t before;

		pvq_rig_init(&rig, 3, 2, flags);
		CU_ASSERT_TRUE(pvq_packed_enable_cb(&rig.drv));
		before = driver_word();
		for (uint64_t pos = 3; pos < 20; pos++) {
			add(1, 1);
			CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 1);
			CU_ASSERT_TRUE(pvq_packed_must_call(&rig.dev));
			CU_ASSERT_PTR_NOT_NULL(pvq_packed_next_used(&rig.drv, &len));
			CU_ASSERT_EQUAL(driver_word(),
					flags & RIG_EVENT_IDX ? word_at(pos) : before);
		}
		pvq_packed_disable_cb(&rig.drv);
		pvq_rig_pass(&rig, 2, 1);
		CU_ASSERT_EQUAL(driver_word() >> 16, 1);
		CU_ASSERT_FALSE(pvq_packed_must_call(&rig.dev));
		pvq_rig_fini(&rig);
	}
}

/* Enabling tells of what came before it, on every slot of two laps. */
static void
enable_looks_again(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
		for (uint64_t start = 0; start < 10; start++) {
			pvq_rig_init(&rig, 5, start, flags);
			CU_ASSERT_TRUE(pvq_packed_enable_cb(&rig.drv));
			add(1, 5);
			CU_ASSERT_TRUE(pvq_packed_enable_cb(&rig.drv));
			CU_ASSERT_TRUE(pvq_packed_enable_cb_delayed(&rig.drv));
			CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 5);
			for (unsigned int i = 0; i < 5; i++) {
				CU_ASSERT_FALSE(pvq_packed_enable_cb(&rig.drv));
				CU_ASSERT_FALSE(pvq_packed_enable_cb_delayed(&rig.drv));
				CU_ASSERT_PTR_NOT_NULL(pvq_packed_next_used(&rig.drv, &len));
			}
			CU_ASSERT_TRUE(pvq_packed_enable_cb(&rig.drv));
			pvq_rig_fini(&rig);
		}
}

/* The call comes when 3/4 of what the device has is used, and not before. */
static void
delayed_call(void)
{
	for (uint64_t start = 0; start < 32; start++)
		for (unsigned int n = 1; n <= 16; n++) {
			struct pvq_chain chain;

			pvq_rig_init(&rig, 16, start, RIG_EVENT_IDX);
			pvq_packed_must_call(&rig.dev);
			add(1, n);
			CU_ASSERT_TRUE(pvq_packed_enable_cb_delayed(&rig.drv));
			CU_ASSERT_EQUAL(driver_word(), word_at(start + n * 3 / 4));
			for (unsigned int i = 0; i < n; i++) {
				CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
				pvq_rig_use(&rig, &chain, 0);
				CU_ASSERT_EQUAL(pvq_packed_must_call(&rig.dev), i == n * 3 / 4);
			}
			pvq_rig_fini(&rig);
		}
}

/* All is used between arming and looking again; no used entry is ever written at the event's
 * slot, as it lies within a chain.
 */
static void
ev05_delayed_with_chains(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
		for (uint64_t start = 15; start < 32; start += 16) {
			if (flags & RIG_INDIRECT)
				continue;
			pvq_rig_init(&rig, 16, start, flags);
			add(2, 8);
			CU_ASSERT_TRUE(pvq_packed_enable_cb_delayed(&rig.drv));
			CU_ASSERT_EQUAL(pvq_rig_serve(&rig, 0), 8);
			CU_ASSERT_FALSE(pvq_packed_enable_cb_delayed(&rig.drv));
			CU_ASSERT_TRUE(pvq_packed_must_call(&rig.dev));
			for (unsigned int i = 0; i < 8; i++)
				CU_ASSERT_PTR_NOT_NULL(pvq_packed_next_used(&rig.drv, &len));
			pvq_rig_fini(&rig);
		}
}

/* A chain that steps over the slot asked for calls as well. */
static void
delayed_call_within_a_chain(void)
{
	pvq_rig_init(&rig, 16, 13, RIG_EVENT_IDX);
	pvq_packed_must_call(&rig.dev);
	add(5, 3);
	CU_ASSERT_TRUE(pvq_packed_enable_cb_delayed(&rig.drv)); /* at the 12th slot of 15 */
	for (unsigned int i = 0; i < 3; i++) {
		struct pvq_chain chain;

		CU_ASSERT_EQUAL_FATAL(pvq_rig_take(&rig, &chain), 1);
		pvq_rig_use(&rig, &chain, 0);
		CU_ASSERT_EQUAL(pvq_packed_must_call(&rig.dev), i == 2);
	}
	pvq_rig_fini(&rig);
}

/* With a position of @p n slots ago, does poll say that there is news? */
static bool
news_after(uint64_t n, bool counter, unsigned int flags)
{
	uint32_t position;
	bool news;

	pvq_rig_init(&rig, 3, 2, flags);
	rig.drv.use_wrap_counter = counter;
	pvq_rig_pass(&rig, 4, 1);
	position = pvq_packed_position(&rig.drv);
	pvq_rig_pass(&rig, n, 1);
	news = pvq_packed_poll(&rig.drv, position);
	CU_ASSERT_EQUAL(rig.drv.wraps, counter ? (2 + 4 + n) / 3 : 0);
	/* one that is used is news in any case */
	add(1, 1);
	pvq_rig_serve(&rig, 0);
	CU_ASSERT_TRUE(pvq_packed_poll(&rig.drv, position));
	CU_ASSERT_TRUE(pvq_packed_poll(&rig.drv, pvq_packed_position(&rig.drv)));
	pvq_rig_fini(&rig);
	return news;
}

/* Two laps later, slot and wrap counter are the same again. */
static void
poll_after_some_laps(void)
{
	for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
		for (uint64_t n = 0; n <= 18; n++) {
			CU_ASSERT_EQUAL(news_after(n, false, flags), n % 6 != 0);
			CU_ASSERT_EQUAL(news_after(n, true, flags), n != 0);
		}
}

/* Chains turn the lap as single slots do; the counter may be set at any time. */
static void
wraps_with_chains(void)
{
	pvq_rig_init(&rig, 8, 0, 0);
	pvq_rig_pass(&rig, 16, 5);
	CU_ASSERT_EQUAL(rig.drv.wraps, 0);
	rig.drv.use_wrap_counter = true;
	pvq_rig_pass(&rig, 16, 5);
	CU_ASSERT_EQUAL(rig.drv.wraps, 10);
	pvq_rig_pass(&rig, 3, 8);
	CU_ASSERT_EQUAL(rig.drv.wraps, 13);
	rig.drv.use_wrap_counter = false;
	pvq_rig_pass(&rig, 16, 5);
	CU_ASSERT_EQUAL(rig.drv.wraps, 13);
	pvq_rig_fini(&rig);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "NT07 disable and enable, again and again", nt07_disable_and_enable },
		{ "the event follows what is taken back", event_follows },
		{ "enable looks again", enable_looks_again },
		{ "a delayed call comes at 3/4", delayed_call },
		{ "EV05 a delayed call and chains", ev05_delayed_with_chains },
		{ "a delayed call within a chain", delayed_call_within_a_chain },
		{ "poll, after some laps", poll_after_some_laps },
		{ "laps are counted with chains, and when asked for", wraps_with_chains },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: calls", tests);
}
