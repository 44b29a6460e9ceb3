/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Calls and kicks: named cases. */

#include "fixture.h"

static void
set_event(unsigned int ring, uint16_t flags, uint16_t off_wrap)
{
	*fx.fe.ring[ring].drv.driver_event =
			(struct vring_packed_desc_event){ .flags = flags, .off_wrap = off_wrap };
}

/* A driver that sleeps on a full transmit ring is called when it is emptied. */
static void
test_nt05(void)
{
	fx_start(FE_PLAIN, 16);
	fx_offer(FE_TXQ, 16);
	fe_calls(&fx.fe.ring[FE_TXQ]);
	CU_ASSERT_EQUAL(fx_drain(), 16);
	CU_ASSERT_TRUE(fe_calls(&fx.fe.ring[FE_TXQ]) > 0);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 16);
}

/* One call a burst. */
static void
test_nt13(void)
{
	struct fe_ring *rxq = &fx.fe.ring[FE_RXQ];

	fx_start(FE_PLAIN, 64);
	fx_post(FE_RXQ, 32, 200);
	CU_ASSERT_EQUAL(fe_calls(rxq), 0);
	CU_ASSERT_EQUAL(fx_burst(0, 32), 32);
	CU_ASSERT_EQUAL(fe_calls(rxq), 1);
	CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 32);
	set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_DISABLE, 0);
	fx_post(FE_RXQ, 32, 200);
	CU_ASSERT_EQUAL(fx_burst(0, 32), 32);
	CU_ASSERT_EQUAL(fe_calls(rxq), 0);
	CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 32);
	/* An empty burst calls nobody. */
	set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_ENABLE, 0);
	CU_ASSERT_EQUAL(fx_burst(0, 1), 0);
	CU_ASSERT_EQUAL(fx_drain(), 0);
	CU_ASSERT_EQUAL(fe_calls(rxq), 0);
}

/* The device polls and says so, and writes nothing else into that word. */
static void
test_kicks_off(void)
{
	fx_start(FE_PLAIN | FE_EVENT_IDX, 16);
	for (unsigned int i = 0; i < 2; i++) {
		const struct pvq_driver *drv = &fx.fe.ring[i].drv;

		CU_ASSERT_EQUAL(drv->device_event->flags, VRING_PACKED_EVENT_FLAG_DISABLE);
		CU_ASSERT_EQUAL(drv->driver_event->flags, 0);
		CU_ASSERT_EQUAL(drv->driver_event->off_wrap, 0);
	}
	CU_ASSERT_TRUE(fx_good());
}

/* With EVENT_IDX a call comes with the descriptor it was asked for, on the right lap, whatever the
 * length of the burst that passes it.
 */
static void
test_event_idx(void)
{
	struct fe_ring *rxq = &fx.fe.ring[FE_RXQ];

	fx_start(FE_PLAIN | FE_EVENT_IDX, 16);
	CU_ASSERT_TRUE(fx_good());
	for (unsigned int ahead = 0; ahead < 16; ahead++) {
		for (unsigned int n = 1; n <= 16; n++) {
			struct pvq_cursor c = pvq_driver_cursor(&rxq->drv, rxq->drv.used + ahead);

			fe_calls(rxq);
			set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_DESC, pvq_cursor_pack(c));
			fx_post(FE_RXQ, n, 200);
			CU_ASSERT_EQUAL(fx_burst(0, n), n);
			CU_ASSERT_EQUAL(fe_calls(rxq), ahead < n);
			CU_ASSERT_EQUAL(fx_collect(FE_RXQ), n);
		}
	}
}

/* It was asked for a descriptor that has passed already. */
static void
test_event_passed(void)
{
	struct fe_ring *rxq = &fx.fe.ring[FE_RXQ];

	fx_start(FE_PLAIN | FE_EVENT_IDX, 16);
	for (unsigned int n = 1; n <= 16; n++) {
		CU_ASSERT_TRUE(fx_good());
		fe_calls(rxq);
		set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_DESC, pvq_cursor_pack(
				pvq_driver_cursor(&rxq->drv, rxq->drv.used - 1)));
		fx_post(FE_RXQ, n, 200);
		CU_ASSERT_EQUAL(fx_burst(0, n), n);
		CU_ASSERT_EQUAL(fe_calls(rxq), 0);
		CU_ASSERT_EQUAL(fx_collect(FE_RXQ), n);
	}
}

/* The descriptor it was asked for is within a chain. */
static void
test_ev01(void)
{
	struct fe_ring *rxq = &fx.fe.ring[FE_RXQ];
	const uint32_t lens[5] = { 12, 20, 20, 20, 20 };

	fx_start(FE_PLAIN | FE_EVENT_IDX, 8);
	CU_ASSERT_TRUE(fx_good());
	for (unsigned int ahead = 0; ahead < 8; ahead++) {
		struct pvq_cursor c = pvq_driver_cursor(&rxq->drv, rxq->drv.used + ahead);

		fe_calls(rxq);
		set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_DESC, pvq_cursor_pack(c));
		CU_ASSERT_TRUE(fe_post(&fx.fe, FE_RXQ, lens, 5, false) >= 0);
		CU_ASSERT_EQUAL(fx_burst(0, 1), 1);
		CU_ASSERT_EQUAL(fe_calls(rxq), ahead < 5);
		CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 1);
	}
}

/* After a restart the first completion calls, whatever the old event index says. */
static void
test_ev03(void)
{
	struct fe_ring *rxq = &fx.fe.ring[FE_RXQ];

	fx_start(FE_PLAIN | FE_EVENT_IDX, 256);
	set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_DESC, 0x8000);
	for (unsigned int i = 0; i < 100; i++) {
		fx_post(FE_RXQ, 1, 200);
		CU_ASSERT_EQUAL(fx_burst(0, 1), 1);
		CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 1);
	}
	for (unsigned int from = 0; from < 2; from++) {
		fe_ring_base(&fx.fe, FE_RXQ);
		CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_RXQ, 256, from * 100), 0);
		set_event(FE_RXQ, VRING_PACKED_EVENT_FLAG_DESC, 0x8000);
		fe_calls(rxq);
		fx_post(FE_RXQ, 1, 200);
		CU_ASSERT_EQUAL(fx_burst(0, 1), 1);
		CU_ASSERT_EQUAL(fe_calls(rxq), 1);
		CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 1);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "NT05: call on a full transmit ring", test_nt05 },
		{ "NT13: one call a burst", test_nt13 },
		{ "kicks switched off", test_kicks_off },
		{ "EVENT_IDX: call at a descriptor", test_event_idx },
		{ "EVENT_IDX: descriptor has passed", test_event_passed },
		{ "EV01: call within a chain", test_ev01 },
		{ "EV03: call after a restart", test_ev03 },
		CU_TEST_INFO_NULL,
	};

	return fx_run("notify", tests);
}
