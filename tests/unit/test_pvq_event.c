/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Kick and call suppression in one thread. That no event is lost between two is the part of
 * test_pvq_threads.c, and of the explorer.
 */

#include <stdlib.h>

#include "pvq_driver.h"

static struct pvq_pair p;

/* Pass @p n slots through the ring, as chains up to @p chain long. */
static void
pass(uint32_t n, uint32_t chain)
{
	struct pvq_seg seg[8] = { { .len = 60 } };

	while (n > 0) {
		uint32_t part = n < chain ? n : chain;
		struct pvq_driver_used used;
		struct pvq_chain c;

		pvq_driver_add(&p.drv, seg, part, 0);
		CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&p, &c), 1);
		pvq_packed_push_used(&p.dev, c.id, 0, c.ndesc);
		pvq_packed_flush_used(&p.dev, NULL);
		CU_ASSERT_TRUE_FATAL(pvq_driver_poll(&p.drv, &used));
		n -= part;
	}
}

static void
driver_wants(uint16_t off_wrap, uint16_t flags)
{
	pvq_store(pvq_packed_event_word(p.drv.driver_event), off_wrap | (uint32_t)flags << 16);
}

/* Slot @p pos as an event offset and wrap counter. */
static uint16_t
at(uint64_t pos)
{
	return pos % p.drv.size | (pos / p.drv.size % 2 == 0 ? 0x8000 : 0);
}

static void
driver_wants_at(uint64_t pos)
{
	driver_wants(at(pos), VRING_PACKED_EVENT_FLAG_DESC);
}

/* A call is due when the slot asked for is one of those passed: look at each of them. */
static bool
model_must_call(uint64_t old, uint64_t new, uint64_t event, uint16_t size)
{
	for (uint64_t pos = old; pos < new; pos++)
		if (pos % (2u * size) == event % (2u * size))
			return true;
	return false;
}

static void
every_event(uint16_t size, uint64_t old, uint64_t new, uint32_t chain)
{
	struct pvq_packed_dev passed;

	pvq_pair_init(&p, size, old, true);
	p.dev.nb_unsignalled = 0; /* as if asked already */
	pass(new - old, chain);
	passed = p.dev;
	for (uint64_t event = 0; event < 2u * size; event++) {
		p.dev = passed;
		driver_wants_at(event);
		CU_ASSERT_FATAL(pvq_packed_must_call(&p.dev) ==
				model_must_call(old, new, event, size));
		CU_ASSERT_FALSE_FATAL(pvq_packed_must_call(&p.dev));
	}
	pvq_pair_fini(&p);
}

static void
ev11_every_old_new_event(void)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t old = 0; old < 2u * sizes[i]; old++)
			for (uint64_t n = 0; n <= 2u * sizes[i] + 1; n++) {
				every_event(sizes[i], old, old + n, 1);
				every_event(sizes[i], old, old + n, sizes[i]);
			}
}

/* One chain steps over the slot asked for. */
static void
ev01_chain_over_the_event(void)
{
	pvq_pair_init(&p, 8, 0, true);
	p.dev.nb_unsignalled = 0;
	driver_wants(2 | 0x8000, VRING_PACKED_EVENT_FLAG_DESC);
	pass(5, 5);
	CU_ASSERT_TRUE(pvq_packed_must_call(&p.dev));
	pass(1, 1);
	CU_ASSERT_FALSE(pvq_packed_must_call(&p.dev));
	pvq_pair_fini(&p);
}

/* The event offset may be one of long ago. */
static void
ev03_first_after_a_start(void)
{
	static const uint64_t bases[] = { 0, 100 };

	for (uint64_t event = 0; event < 512; event++) {
		pvq_pair_init(&p, 256, bases[event % 2], true);
		driver_wants_at(event);
		pass(1, 1);
		CU_ASSERT_TRUE_FATAL(pvq_packed_must_call(&p.dev));
		pass(1, 1);
		CU_ASSERT_EQUAL_FATAL(pvq_packed_must_call(&p.dev), event == bases[event % 2] + 1);
		pvq_pair_fini(&p);
	}
}

static void
call_flags(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		uint16_t flag = i / 2;
		bool want = flag != VRING_PACKED_EVENT_FLAG_DISABLE;

		/* The slot asked for is not passed; that counts with DESC and EVENT_IDX. */
		if (flag == VRING_PACKED_EVENT_FLAG_DESC && i % 2)
			want = false;
		pvq_pair_init(&p, 8, 0, i % 2);
		p.dev.nb_unsignalled = 0;
		driver_wants(5 | 0x8000, flag);
		CU_ASSERT_FALSE(pvq_packed_must_call(&p.dev));
		pass(1, 1);
		CU_ASSERT_EQUAL(pvq_packed_must_call(&p.dev), want);
		CU_ASSERT_FALSE(pvq_packed_must_call(&p.dev));
		pvq_pair_fini(&p);
	}
}

/* One question for all that was flushed since the last one. */
static void
several_flushes_one_call(void)
{
	pvq_pair_init(&p, 8, 5, true);
	p.dev.nb_unsignalled = 0;
	driver_wants_at(5);
	for (unsigned int i = 0; i < 4; i++)
		pass(3, 3);
	CU_ASSERT_TRUE(pvq_packed_must_call(&p.dev));
	CU_ASSERT_FALSE(pvq_packed_must_call(&p.dev));
	pvq_pair_fini(&p);
}

/* An offset beyond the ring makes some answer or other, and no harm. */
static void
event_beyond_the_ring(void)
{
	pvq_pair_init(&p, 5, 3, true);
	for (uint32_t v = 0; v <= UINT16_MAX; v++) {
		driver_wants(v, VRING_PACKED_EVENT_FLAG_DESC);
		pass(10, 5);
		CU_ASSERT_TRUE_FATAL(pvq_packed_must_call(&p.dev));
	}
	pvq_pair_fini(&p);
}

static uint32_t
device_wants(void)
{
	return pvq_load(pvq_packed_event_word(p.drv.device_event));
}

static void
nt07_enable_and_disable(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t flag = i > 0 ? 0x20000 : 0;

		pvq_pair_init(&p, 8, 6, i > 0);
		for (unsigned int round = 0; round < 20; round++) {
			uint32_t want = flag | at(p.drv.avail);

			pvq_packed_disable_kick(&p.dev, NULL);
			CU_ASSERT_EQUAL(device_wants(), 0x10000);
			CU_ASSERT_TRUE(pvq_packed_enable_kick(&p.dev, NULL));
			CU_ASSERT_EQUAL(device_wants(), want);
			/* the same again, and without a step in between */
			pvq_packed_disable_kick(&p.dev, NULL);
			CU_ASSERT_EQUAL(device_wants(), 0x10000);
			CU_ASSERT_TRUE(pvq_packed_enable_kick(&p.dev, NULL));
			CU_ASSERT_EQUAL(device_wants(), want);
			pass(1 + round % 3, 3);
		}
		pvq_pair_fini(&p);
	}
}

/* Enabling tells of what came before it, on every slot of two laps; a full ring is no news. */
static void
enable_looks_again(void)
{
	const struct pvq_seg seg = { .len = 60 };

	for (uint16_t size = 1; size <= 8; size++) {
		pvq_pair_init(&p, size, 0, true);
		for (uint64_t pos = 0; pos < 5u * size; pos++) {
			struct pvq_driver_used used;
			struct pvq_chain chain;

			CU_ASSERT_TRUE_FATAL(pvq_packed_enable_kick(&p.dev, NULL));
			while (pvq_driver_add(&p.drv, &seg, 1, 0) >= 0)
				CU_ASSERT_FALSE_FATAL(pvq_packed_enable_kick(&p.dev, NULL));
			for (uint16_t i = 0; i < size; i++) {
				uint64_t next = p.drv.used + i; /* not given back yet */

				CU_ASSERT_FALSE_FATAL(pvq_packed_enable_kick(&p.dev, NULL));
				CU_ASSERT_FATAL((device_wants() & 0xffff) == at(next));
				CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&p, &chain), 1);
				pvq_packed_push_used(&p.dev, chain.id, 0, 1);
			}
			CU_ASSERT_TRUE_FATAL(pvq_packed_enable_kick(&p.dev, NULL));
			pvq_packed_flush_used(&p.dev, NULL);
			CU_ASSERT_TRUE_FATAL(pvq_packed_enable_kick(&p.dev, NULL));
			while (pvq_driver_poll(&p.drv, &used))
				;
			pass(1, 1);
		}
		pvq_pair_fini(&p);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "EV01 a chain over the event", ev01_chain_over_the_event },
		{ "EV03 the first completion after a start calls", ev03_first_after_a_start },
		{ "EV11 every old, new and event of two laps", ev11_every_old_new_event },
		{ "flags of the driver's event", call_flags },
		{ "several flushes, one call", several_flushes_one_call },
		{ "an event beyond the ring", event_beyond_the_ring },
		{ "NT07 enable and disable, again and again", nt07_enable_and_disable },
		{ "enable looks again", enable_looks_again },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq events", tests);
}
