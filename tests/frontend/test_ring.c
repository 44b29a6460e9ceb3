/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed rings as the port's bursts meet them: named cases. */

#include <string.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

static struct fe_ring *
txq(void)
{
	return &fx.fe.ring[FE_TXQ];
}

/* Only AVAIL set and USED clear is available on the first lap. */
static void
test_pk07(void)
{
	struct vring_packed_desc *desc;

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false) >= 0);
	desc = fe_last_desc(&fx.fe, FE_TXQ, 0);
	desc->flags = 0x8080;
	CU_ASSERT_EQUAL(fx_drain(), 0);
	desc->flags = 0;
	CU_ASSERT_EQUAL(fx_drain(), 0);
	desc->flags = 0x8000;
	CU_ASSERT_EQUAL(fx_drain(), 0);
	desc->flags = 0x0080;
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

static void
test_pk09(void)
{
	struct peer *peer = &fx.fe.peer;

	fx_start(FE_PLAIN, 256);
	fe_ring_base(&fx.fe, FE_TXQ);
	CU_ASSERT_NOT_EQUAL(peer_ask_state(peer, PVU_SET_VRING_BASE, FE_TXQ, 300), 0);
	CU_ASSERT_NOT_EQUAL(peer_ask_state(peer, PVU_SET_VRING_BASE, FE_TXQ, 0x8000 + 256), 0);
	/* A base that a smaller size makes wrong later: the ring does not start. */
	CU_ASSERT_EQUAL(peer_ask_state(peer, PVU_SET_VRING_BASE, FE_TXQ, 0x8000 + 255), 0);
	CU_ASSERT_EQUAL(peer_ask_state(peer, PVU_SET_VRING_NUM, FE_TXQ, 128), 0);
	fe_ring_resume(&fx.fe, FE_TXQ);
	fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
	CU_ASSERT_EQUAL(fx_drain(), 0);
	fx_restart(FE_PLAIN, 256, 0);
}

/* A chain over the ring's end is one buffer, with one used entry at its head. */
static void
test_pk10(void)
{
	struct vring_packed_desc ring_before[8], *ring;
	struct pvq_cursor base;

	fx_start_with(&(struct fx_opts){ 0 }, FE_PLAIN, 8, 7);
	ring = txq()->drv.desc;
	fe_fill(pkt, 60, 1);
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 60, SEGS(12, 30, 30), false) >= 0);
	memcpy(ring_before, ring, sizeof(ring_before));
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(memcmp(ring, ring_before, 7 * sizeof(ring[0])), 0);
	CU_ASSERT_EQUAL(ring[7].flags & 0x8080, 0x8080);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	base = fe_ring_base(&fx.fe, FE_TXQ);
	CU_ASSERT_EQUAL(base.idx, 2);
	CU_ASSERT_FALSE(base.wrap);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_TXQ), 0);
}

/* Of a chain's ids only the last is valid. */
static void
test_pk12(void)
{
	struct vring_packed_desc *desc;
	int id;

	fx_start(FE_PLAIN, 16);
	id = fe_send(&fx.fe, FE_TXQ, pkt, 60, SEGS(12, 30, 30), false);
	desc = fe_last_desc(&fx.fe, FE_TXQ, 2);
	desc[0].id = 0xaaaa;
	desc[1].id = 0xbbbb;
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(desc->id, id);
	CU_ASSERT_EQUAL(desc->len, 0);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

/* A chain may fill the whole ring. */
static void
test_pk16(void)
{
	fx_start(FE_PLAIN, 8);
	for (unsigned int i = 0; i < 10; i++) {
		CU_ASSERT_TRUE(fx_receives(60, SEGS(5, 7, 10, 10, 10, 10, 10, 10), false));
		CU_ASSERT_TRUE(fx_sends(60, SEGS(5, 7, 10, 10, 10, 10, 10, 10), false));
		CU_ASSERT_TRUE(fx_good());
	}
}

/* A ring's neighbours are never written, and neither is a slot once it has been given back. */
static void
test_own_slots(void)
{
	const size_t len = 5 * sizeof(struct vring_packed_desc);
	const struct vring_packed_desc_event off = { .flags = VRING_PACKED_EVENT_FLAG_DISABLE };
	uint8_t used[80], after[4096];

	CU_ASSERT_EQUAL_FATAL(sizeof(used), len);
	fx_start(FE_PLAIN | FE_MRG, 5);
	for (unsigned int i = 0; i < 100; i++) {
		CU_ASSERT_TRUE(fx_good());
		CU_ASSERT_TRUE(fx_receives(60, SEGS(12, 30, 30), false));
		CU_ASSERT_TRUE(fx_sends(60, SEGS(5, 7, 60), false));
		memcpy(used, txq()->drv.desc, len);
		CU_ASSERT_EQUAL(fx_drain() + fx_burst(0, 1), 0);
		CU_ASSERT_EQUAL(memcmp(used, txq()->drv.desc, len), 0);
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct pvq_driver *drv = &fx.fe.ring[i].drv;

		memset(after, 0, sizeof(after));
		memcpy(after + ((uint8_t *)drv->device_event - (uint8_t *)drv->desc) - len, &off,
				sizeof(off));
		CU_ASSERT_EQUAL(memcmp(drv->desc + 5, after, sizeof(after)), 0);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "PK07: availability needs both bits", test_pk07 },
		{ "PK09: base beyond the ring", test_pk09 },
		{ "PK10: chain over the ring's end", test_pk10 },
		{ "PK12: id of the last descriptor", test_pk12 },
		{ "PK16: chain as long as the ring", test_pk16 },
		{ "a ring's own slots", test_own_slots },
		CU_TEST_INFO_NULL,
	};

	return fx_run("ring", tests);
}
