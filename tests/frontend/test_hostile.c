/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A hostile driver: each bad buffer is a counted drop, goes back, and does no harm. */

#include <pthread.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

static void
raw(unsigned int ring, uint64_t addr, uint32_t len, uint16_t flags)
{
	const struct pvq_seg seg = { .addr = addr, .len = len };

	CU_ASSERT_TRUE(fe_raw(&fx.fe, ring, &seg, 1, flags) >= 0);
}

static uint16_t
send_one(uint32_t len)
{
	struct rte_mbuf *m;
	uint16_t sent;

	fe_fill(pkt, len, 1);
	m = fx_mbuf(pkt, len, NULL, 0);
	sent = fx_tx(&m, 1);
	if (sent == 0)
		rte_pktmbuf_free(m);
	return sent;
}

/* The buffers posted on the receive ring each cost one packet, and come back empty. */
static bool
tx_drops(unsigned int n)
{
	uint64_t errors = fx_stats(&fx.port).oerrors, packets = fx_stats(&fx.port).opackets;
	unsigned int back = 0;

	for (unsigned int i = 0; i < n; i++)
		if (send_one(60) != 1)
			return false;
	while (fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)) == FE_EMPTY)
		back++;
	errors = fx_stats(&fx.port).oerrors - errors;
	if (back == n && errors == n && fx_stats(&fx.port).opackets == packets)
		return true;
	fe_fault(&fx.fe, "of %u bad buffers %lu were counted, %u are back", n, errors, back);
	return false;
}

static void
test_read_only_on_rxq(void)
{
	struct fe_buf *buf;

	fx_start(FE_PLAIN, 16);
	for (unsigned int indirect = 0; indirect < 2; indirect++) {
		fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(2000)), false, indirect);
		fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(12, 2000)), false, indirect);
	}
	/* The last segment only: the ones before it may not be used either. */
	buf = fe_buf(&fx.fe, SEGS(12, 30, 30));
	fe_offer(&fx.fe, FE_RXQ, buf, true, false);
	fe_last_desc(&fx.fe, FE_RXQ, 0)->flags &= ~VRING_DESC_F_WRITE;
	CU_ASSERT_TRUE(tx_drops(5));
	CU_ASSERT_TRUE(fx_good());
	fx_restart(FE_PLAIN | FE_MRG, 16, 0);
	fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(2000)), false, false);
	fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(2000)), false, true);
	CU_ASSERT_TRUE(tx_drops(2));
}

/* In slots beyond those where WRITE in a table may be DPDK's habit. */
static void
test_write_only_on_txq(void)
{
	fx_start_with(&(struct fx_opts){ 0 }, FE_PLAIN, 16, 8);
	for (unsigned int indirect = 0; indirect < 2; indirect++) {
		fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(100)), true, indirect);
		fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 100)), true, indirect);
	}
	fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 30, 30)), false, false);
	fe_last_desc(&fx.fe, FE_TXQ, 0)->flags |= VRING_DESC_F_WRITE;
	CU_ASSERT_TRUE(fx_drops(5));
}

/* CVE-2022-2132: no longer than the header. A frame is at least an Ethernet header. */
static void
test_too_short(void)
{
	fx_start(FE_PLAIN, 16);
	for (uint32_t len = 0; len < 12 + 14; len++) {
		fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, &len, 1), false, len % 2);
		CU_ASSERT_TRUE(fx_drops(1));
	}
	fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(4, 4, 4)), false, false);
	fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(0, 0, 0)), false, true);
	CU_ASSERT_TRUE(fx_drops(2));
	for (uint32_t len = 0; len < 12; len++) {
		fe_post(&fx.fe, FE_RXQ, &len, 1, len % 2);
		CU_ASSERT_TRUE(tx_drops(1));
	}
	/* Without MRG_RXBUF a buffer too small for the packet waits for one that fits. */
	fe_post(&fx.fe, FE_RXQ, SEGS(20), false);
	CU_ASSERT_EQUAL(send_one(60), 1);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 13);
	CU_ASSERT_EQUAL(send_one(8), 1);
	CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), 8);
}

static void
test_addresses(void)
{
	static const struct {
		uint64_t addr;
		uint32_t len;
	} bad[] = {
		{ 0, 100 }, { 0xdead0000, 100 }, { UINT64_MAX, 100 }, { UINT64_MAX - 50, 100 },
		{ UINT64_MAX - 99, 100 }, { 0x100000000 - 50, 100 }, { 0x100000000 - 1, 100 },
		{ 0x100000000 + FE_MEM_SIZE - 99, 100 }, { 0x100000000 + FE_MEM_SIZE, 100 },
		{ 0x7000000000, 100 }, { 0xdead0000, UINT32_MAX }, { 0x100000000, UINT32_MAX },
		{ 0x100000000, 65570 }, { UINT64_MAX - 4, UINT32_MAX },
	};

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		struct pvq_seg segs[2] = {
			{ fe_guest(&fx.fe, FE_HEAP), 12, false }, { bad[i].addr, bad[i].len, false }
		};

		raw(FE_TXQ, bad[i].addr, bad[i].len, 0);
		fe_raw(&fx.fe, FE_TXQ, segs, 2, 0);
		CU_ASSERT_TRUE(fx_drops(2));
		/* A packet may fit all the same: no more is written than it is long. */
		if (bad[i].addr - 0x100000000 < FE_MEM_SIZE)
			continue;
		raw(FE_RXQ, bad[i].addr, bad[i].len, VRING_DESC_F_WRITE);
		segs[0].write = segs[1].write = true;
		fe_raw(&fx.fe, FE_RXQ, segs, 2, 0);
		CU_ASSERT_TRUE(tx_drops(2));
	}
}

/* NEXT in every descriptor: the walk ends after one lap, and all slots go back at once. */
static void
test_endless_chain(void)
{
	struct pvq_seg segs[16];

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(segs); i++)
		segs[i] = (struct pvq_seg){ fe_guest(&fx.fe, FE_HEAP), 10, false };
	for (unsigned int lap = 0; lap < 3; lap++) {
		fe_raw(&fx.fe, FE_TXQ, segs, 16, VRING_DESC_F_NEXT);
		/* The id is that of the last descriptor read. */
		CU_ASSERT_TRUE(fx_drops(1));
	}
	CU_ASSERT_TRUE(fx_good());
	for (unsigned int i = 0; i < RTE_DIM(segs); i++)
		segs[i].write = true;
	fe_raw(&fx.fe, FE_RXQ, segs, 16, VRING_DESC_F_NEXT);
	CU_ASSERT_TRUE(tx_drops(1));
}

/* Ids out of range or repeated are the driver's own trouble: they come back as they were. */
static void
test_ids(void)
{
	struct pvq_driver *drv = &fx.fe.ring[FE_TXQ].drv;
	static const uint16_t ids[] = { 16, 0xffff, 3, 3, 0x8000 };

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(ids); i++)
		pvq_driver_write(drv, i, fe_guest(&fx.fe, FE_HEAP), 100, ids[i], 0x0080);
	CU_ASSERT_EQUAL(fx_drain(), RTE_DIM(ids));
	for (unsigned int i = 0; i < RTE_DIM(ids); i++) {
		CU_ASSERT_EQUAL(drv->desc[i].id, ids[i]);
		CU_ASSERT_EQUAL(drv->desc[i].flags, 0x8080);
	}
	drv->avail = drv->used = RTE_DIM(ids);
}

/* A ring full of bad buffers again and again: the work of a poll is bounded by its burst. */
static void
test_endless_supply(void)
{
	uint64_t start = fx_now_ms(), errors;
	struct rte_mbuf *pkts[32];

	fx_start(FE_PLAIN, 256);
	for (unsigned int i = 0; i < 200; i++) {
		for (unsigned int n = 0; n < 256; n++)
			raw(FE_TXQ, n % 2 ? 0xdead0000 : 0x100000000, n % 3 ? 100 : 5,
					n % 5 ? VRING_DESC_F_WRITE : VRING_DESC_F_INDIRECT);
		errors = fx_stats(&fx.port).ierrors;
		CU_ASSERT_EQUAL(fx_rx(pkts, 32), 0);
		CU_ASSERT_EQUAL(fx_stats(&fx.port).ierrors - errors, 32);
		while (fx_stats(&fx.port).ierrors - errors < 256)
			CU_ASSERT_EQUAL_FATAL(fx_rx(pkts, 32), 0);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 256);
	}
	CU_ASSERT_TRUE(fx_now_ms() - start < 10000);
}

/* Available, then not: what is seen once is done once. */
static void
test_flags_go_back(void)
{
	struct vring_packed_desc *desc;

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false) >= 0);
	desc = fe_last_desc(&fx.fe, FE_TXQ, 0);
	desc->flags ^= 0x0080;
	CU_ASSERT_EQUAL(fx_drain(), 0);
	desc->flags ^= 0x0080;
	CU_ASSERT_EQUAL(fx_drain(), 1);
	desc->flags = 0x0080;
	/* The slot is met again only a lap later. */
	CU_ASSERT_EQUAL(fx_drain(), 0);
	desc->flags = 0x8080;
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

/* Everything the device reads, rewritten at random while it works. */
static void *
scribble(void *arg)
{
	const uint16_t size = fx.fe.ring[FE_TXQ].drv.size;
	uint64_t seed = 1;

	while (!pvq_load((bool *)arg)) {
		struct vring_packed_desc *desc = fx.fe.ring[pvq_rand_below(&seed, 2)].drv.desc;
		uint32_t slot = pvq_rand_below(&seed, size);
		uint64_t word = pvq_rand(&seed);
		bool table = pvq_rand_below(&seed, 2);

		/* Half of the addresses are good, and point at descriptors. */
		pvq_store(&desc[slot].addr, table ? fe_guest(&fx.fe, pvq_rand_below(&seed, 65536)) :
				pvq_rand(&seed));
		word = (word & ~UINT64_C(0xffffffff)) | (table ? word % 256 * 8 : word % 70000);
		pvq_store(pvq_packed_word(&desc[slot]), word);
	}
	return NULL;
}

static void
test_scribble(void)
{
	uint64_t end = fx_now_ms() + 1500;
	pthread_t thread;
	bool stop = false;

	fx_start_with(&(struct fx_opts){ 0 }, FE_PLAIN | FE_MRG, 64, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, scribble, &stop), 0);
	while (fx_now_ms() < end) {
		fx_drain();
		for (unsigned int i = 0; i < 32; i++)
			send_one(i % 4 == 0 ? 3000 : 60);
	}
	pvq_store(&stop, true);
	pthread_join(thread, NULL);
	fx_restart(FE_PLAIN, 64, 0);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "read-only buffers on the receive ring", test_read_only_on_rxq },
		{ "write-only buffers on the transmit ring", test_write_only_on_txq },
		{ "buffers too short", test_too_short },
		{ "addresses and lengths", test_addresses },
		{ "endless chain", test_endless_chain },
		{ "ids", test_ids },
		{ "endless supply of bad buffers", test_endless_supply },
		{ "flags that go back", test_flags_go_back },
		{ "everything rewritten meanwhile", test_scribble },
		CU_TEST_INFO_NULL,
	};

	return fx_run("hostile", tests);
}
