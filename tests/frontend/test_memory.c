/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Memory and indirect tables as the port's bursts meet them: named cases. */

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

/* One descriptor, as it is. */
static void
raw(unsigned int ring, uint64_t addr, uint32_t len, uint16_t flags)
{
	const struct pvq_seg seg = { .addr = addr, .len = len };

	CU_ASSERT_TRUE(fe_raw(&fx.fe, ring, &seg, 1, flags) >= 0);
}

/* Lengths whose sum leaves 32 bits. */
static void
test_pk20(void)
{
	struct pvq_seg segs[3];

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < 3; i++)
		segs[i] = (struct pvq_seg){ fe_guest(&fx.fe, FE_HEAP), 0x80000000, false };
	fe_raw(&fx.fe, FE_TXQ, segs, 3, 0);
	fe_raw(&fx.fe, FE_TXQ, segs, 2, 0);
	CU_ASSERT_TRUE(fx_drops(2));
}

static struct rte_mbuf *
small_packet(void)
{
	fe_fill(pkt, 100, 1);
	return fx_mbuf(pkt, 100, NULL, 0);
}

/* Memory may be used to its last byte, and no further. */
static void
test_mm01(void)
{
	struct rte_mbuf *m;
	uint64_t addr;

	fx_start(FE_PLAIN, 16);
	addr = fe_guest(&fx.fe, FE_MEM_SIZE - 112);
	raw(FE_TXQ, addr, 112, 0);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	raw(FE_TXQ, addr, 113, 0);
	CU_ASSERT_TRUE(fx_drops(1));

	raw(FE_RXQ, addr, 112, VRING_DESC_F_WRITE);
	raw(FE_RXQ, addr + 1, 112, VRING_DESC_F_WRITE);
	for (unsigned int sent = 0; sent < 2; sent++) {
		m = small_packet();
		CU_ASSERT_EQUAL(fx_tx(&m, 1), 1);
		CU_ASSERT_EQUAL(fx_stats(&fx.port).opackets, 1);
		CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, sent);
		if (sent == 0)
			CU_ASSERT_EQUAL(memcmp(fe_host(&fx.fe, FE_MEM_SIZE - 100), pkt, 100), 0);
	}
	CU_ASSERT_EQUAL(fe_last_desc(&fx.fe, FE_RXQ, 1)->len, 112);
	CU_ASSERT_EQUAL(fe_last_desc(&fx.fe, FE_RXQ, 0)->len, 0);
	for (unsigned int i = 0; i < 2; i++)
		free(fe_take(&fx.fe, FE_RXQ, &(struct pvq_driver_used){ 0 }));
}

static void
test_mm03(void)
{
	struct pvq_seg segs[2] = { { .addr = 0xdead0000 }, { .addr = 0xdead0000 } };

	fx_start(FE_PLAIN, 16);
	raw(FE_TXQ, 0xdead0000, 0, 0);
	raw(FE_TXQ, 0xdead0000, 64, 0);
	fe_raw(&fx.fe, FE_TXQ, segs, 2, 0);
	segs[1].len = 64;
	fe_raw(&fx.fe, FE_TXQ, segs, 2, 0);
	CU_ASSERT_TRUE(fx_drops(4));
}

/* Two regions that follow each other in the driver's eyes, but not here: buffers and an indirect
 * table may lie across the seam.
 */
static void
test_mm11(void)
{
	const uint64_t seam = 0x100000000 + FE_MEM_SIZE;
	struct vring_packed_desc table[2] = { { .len = 12 }, { .len = 100 } };
	struct pvu_mem_region regions[2];
	struct peer_mem next;
	struct rte_mbuf *m;

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_EQUAL(peer_mem_new(&next, 65536, seam, 0x7100000000), 0);
	regions[0] = peer_mem_region(&fx.fe.peer.mem);
	regions[1] = peer_mem_region(&next);
	CU_ASSERT_EQUAL(peer_ask_regions(&fx.fe.peer, regions,
			(int[]){ fx.fe.peer.mem.fd, next.fd }, 2), 0);

	fe_fill(pkt, 100, 1);
	for (unsigned int cut = 1; cut < 112; cut++) {
		uint8_t packet[112] = { 0 };

		memcpy(packet + 12, pkt, 100);
		memcpy(fe_host(&fx.fe, FE_MEM_SIZE - cut), packet, cut);
		memcpy(next.base, packet + cut, 112 - cut);
		raw(FE_TXQ, seam - cut, 112, 0);
		CU_ASSERT_EQUAL_FATAL(fx_rx(&m, 1), 1);
		CU_ASSERT_TRUE(fx_is_packet(&fx.port, m, pkt, 100));
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);

		memset(fe_host(&fx.fe, FE_MEM_SIZE - cut), 0xff, cut);
		memset(next.base, 0xff, 112);
		raw(FE_RXQ, seam - cut, 112, VRING_DESC_F_WRITE);
		CU_ASSERT_EQUAL(fx_tx(&m, 1), 1);
		packet[10] = 1;
		CU_ASSERT_EQUAL(memcmp(fe_host(&fx.fe, FE_MEM_SIZE - cut), packet, cut), 0);
		CU_ASSERT_EQUAL(memcmp(next.base, packet + cut, 112 - cut), 0);
		free(fe_take(&fx.fe, FE_RXQ, &(struct pvq_driver_used){ 0 }));
	}
	table[0].addr = fe_guest(&fx.fe, FE_HEAP);
	table[1].addr = seam - 50;
	memcpy(fe_host(&fx.fe, FE_MEM_SIZE - 18), table, 18);
	memcpy(next.base, (uint8_t *)table + 18, 14);
	raw(FE_TXQ, seam - 18, sizeof(table), VRING_DESC_F_INDIRECT);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	peer_mem_free(&next);
}

/* An indirect table that only begins in memory. */
static void
test_in01(void)
{
	fx_start(FE_PLAIN, 256);
	raw(FE_TXQ, fe_guest(&fx.fe, FE_MEM_SIZE - 32), 64 * 16, VRING_DESC_F_INDIRECT);
	raw(FE_TXQ, UINT64_MAX - 31, 64 * 16, VRING_DESC_F_INDIRECT);
	raw(FE_TXQ, 0xdead0000, 16, VRING_DESC_F_INDIRECT);
	CU_ASSERT_TRUE(fx_drops(3));
}

/* Never a part of an entry, though what is there is good. */
static void
test_in03(void)
{
	static const uint32_t lens[] = { 0, 1, 15, 17, 24, 31 };

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 120, SEGS(72, 60), true) >= 0);
		fe_last_desc(&fx.fe, FE_TXQ, 0)->len = lens[i];
		CU_ASSERT_TRUE(fx_drops(1));
	}
}

/* Where the table of the last buffer offered is. */
static size_t
last_table(void)
{
	return fe_last_desc(&fx.fe, FE_TXQ, 0)->addr - fe_guest(&fx.fe, 0);
}

static void
test_in05(void)
{
	size_t table;

	fx_start(FE_PLAIN, 16);
	fe_fill(pkt, 60, 1);
	/* INDIRECT with NEXT: one slot, and the next one is a buffer of its own. */
	fe_send(&fx.fe, FE_TXQ, pkt, 60, SEGS(12, 60), true);
	fe_last_desc(&fx.fe, FE_TXQ, 0)->flags |= VRING_DESC_F_NEXT;
	CU_ASSERT_TRUE(fx_drops(1));
	CU_ASSERT_TRUE(fx_receives(60, SEGS(12, 60), true));
	/* NEXT, and even INDIRECT, in a table mean nothing. */
	fe_send(&fx.fe, FE_TXQ, pkt, 60, SEGS(12, 60), true);
	table = last_table();
	fe_table_flags(&fx.fe, table, 1, VRING_DESC_F_NEXT | VRING_DESC_F_INDIRECT);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	/* The same table at the end of a chain. */
	fe_raw(&fx.fe, FE_TXQ, (struct pvq_seg[]){ { fe_guest(&fx.fe, FE_HEAP), 12, 0 },
			{ fe_guest(&fx.fe, table), 32, 0 } }, 2, 0);
	fe_last_desc(&fx.fe, FE_TXQ, 0)->flags |= VRING_DESC_F_INDIRECT;
	CU_ASSERT_TRUE(fx_drops(1));
	/* WRITE on the descriptor of a table means nothing. */
	fe_send(&fx.fe, FE_TXQ, pkt, 60, SEGS(12, 60), true);
	fe_last_desc(&fx.fe, FE_TXQ, 0)->flags |= VRING_DESC_F_WRITE;
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

/* As many entries as the ring has, one more, and then a chain as long as the ring. */
static void
test_in09(void)
{
	const uint32_t lens[17] = { 12, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 };

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_TRUE(fx_receives(60, lens, 16, true));
	fe_send(&fx.fe, FE_TXQ, pkt, 64, lens, 17, true);
	CU_ASSERT_TRUE(fx_drops(1));
	CU_ASSERT_TRUE(fx_receives(60, lens, 16, false));
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "PK20: lengths beyond 32 bits", test_pk20 },
		{ "MM01: last byte of memory", test_mm01 },
		{ "MM03: unmapped, with length 0", test_mm03 },
		{ "MM11: over the seam of two regions", test_mm11 },
		{ "IN01: table half outside", test_in01 },
		{ "IN03: table of odd length", test_in03 },
		{ "IN05: NEXT and INDIRECT", test_in05 },
		{ "IN09: table as long as the ring", test_in09 },
		CU_TEST_INFO_NULL,
	};

	return fx_run("memory", tests);
}
