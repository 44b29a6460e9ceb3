/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, driver's half: when it kicks. */

#include "pvq_packed_rig.h"

static struct pvq_rig rig;

static void
device_wants(uint64_t pos, uint16_t flags)
{
	pvq_store(pvq_packed_event_word(rig.device_event),
			pvq_cursor_pack(pvq_rig_cursor(rig.size, pos)) | (uint32_t)flags << 16);
}

static void
add(uint16_t n, unsigned int times)
{
	while (times-- > 0)
		CU_ASSERT_EQUAL_FATAL(pvq_packed_add(&rig.drv, pvq_rig_segs(n, n), n, &rig), 0);
}

static void
kick_flags(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		uint16_t flag = i / 2;
		bool want = flag != VRING_PACKED_EVENT_FLAG_DISABLE;

		/* The slot asked for is not passed; that counts with DESC and EVENT_IDX. */
		if (flag == VRING_PACKED_EVENT_FLAG_DESC && i % 2)
			want = false;
		pvq_rig_init(&rig, 8, 0, i % 2 ? RIG_EVENT_IDX : 0);
		CU_ASSERT_TRUE(pvq_packed_must_kick(&rig.drv));
		device_wants(5, flag);
		CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
		pvq_rig_pass(&rig, 1, 1);
		CU_ASSERT_EQUAL(pvq_packed_must_kick(&rig.drv), want);
		CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
		pvq_rig_fini(&rig);
	}
}

/* A kick is due when the slot asked for is one of those filled: look at each of them. */
static bool
model_must_kick(uint64_t old, uint64_t new, uint64_t event)
{
	for (uint64_t pos = old; pos < new; pos++)
		if (pos % (2u * rig.size) == event)
			return true;
	return false;
}

static void
every_event(uint16_t size, uint64_t start, uint64_t n, uint16_t chain)
{
	struct pvq_packed_drv filled;

	pvq_rig_init(&rig, size, start, RIG_EVENT_IDX);
	pvq_packed_must_kick(&rig.drv);
	pvq_rig_pass(&rig, n / chain, chain);
	pvq_rig_pass(&rig, n % chain, 1);
	filled = rig.drv;
	for (uint64_t event = 0; event < 2u * size; event++) {
		rig.drv = filled;
		device_wants(event, VRING_PACKED_EVENT_FLAG_DESC);
		CU_ASSERT_FATAL(pvq_packed_must_kick(&rig.drv) ==
				model_must_kick(start, start + n, event));
		CU_ASSERT_FALSE_FATAL(pvq_packed_must_kick(&rig.drv));
	}
	pvq_rig_fini(&rig);
}

static void
every_old_new_event(void)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t start = 0; start < 2u * sizes[i]; start++)
			for (uint64_t n = 0; n <= 4u * sizes[i] + 1; n++) {
				every_event(sizes[i], start, n, 1);
				every_event(sizes[i], start, n, sizes[i]);
			}
}

/* Never asked for so long that 16 bits, or 32, of a count would have come round. */
static void
a_very_long_time_between_kicks(void)
{
	pvq_rig_init(&rig, 256, 0, RIG_EVENT_IDX);
	pvq_packed_must_kick(&rig.drv);
	pvq_rig_pass(&rig, 65536, 1);
	device_wants(100, VRING_PACKED_EVENT_FLAG_DESC);
	CU_ASSERT_TRUE(pvq_packed_must_kick(&rig.drv));
	CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
	pvq_rig_pass(&rig, 1, 1);
	CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
	CU_ASSERT_EQUAL(sizeof(rig.drv.nb_unkicked), 8);
	pvq_rig_fini(&rig);
}

/* One question for all that was published since the last one. */
static void
several_adds_one_kick(void)
{
	pvq_rig_init(&rig, 8, 5, RIG_EVENT_IDX);
	pvq_packed_must_kick(&rig.drv);
	device_wants(6, VRING_PACKED_EVENT_FLAG_DESC);
	add(2, 2);
	CU_ASSERT_TRUE(pvq_packed_must_kick(&rig.drv));
	CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
	add(2, 2);
	CU_ASSERT_FALSE(pvq_packed_must_kick(&rig.drv));
	pvq_rig_fini(&rig);
}

/* The device's event may be of long ago: whatever it is, the first buffer kicks. */
static void
ev03_first_after_a_start(void)
{
	for (uint64_t event = 0; event < 32; event++)
		for (uint64_t start = 0; start < 32; start += 5) {
			pvq_rig_init(&rig, 16, start, RIG_EVENT_IDX);
			device_wants(event, VRING_PACKED_EVENT_FLAG_DESC);
			add(1, 1);
			CU_ASSERT_TRUE_FATAL(pvq_packed_must_kick(&rig.drv));
			add(1, 1);
			CU_ASSERT_EQUAL_FATAL(pvq_packed_must_kick(&rig.drv), event == start + 1);
			pvq_rig_fini(&rig);
		}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "flags of the device's event", kick_flags },
		{ "every old, new and event of four laps", every_old_new_event },
		{ "a very long time between kicks", a_very_long_time_between_kicks },
		{ "several adds, one kick", several_adds_one_kick },
		{ "EV03 the first buffer after a start kicks", ev03_first_after_a_start },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: kicks", tests);
}
