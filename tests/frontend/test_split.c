/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What only split rings have: heads, links, an index; and drivers that get them wrong. */

#include <string.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

static struct fe_ring *
ring(unsigned int index)
{
	return &fx.fe.ring[index];
}

static uint32_t
base_of(unsigned int index)
{
	uint32_t num = UINT32_MAX;

	CU_ASSERT_EQUAL(peer_get_base(&fx.fe.peer, index, &num), 0);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, index), 0);
	return num;
}

static void
sp01_index_wraps(void)
{
	fx_start_with(&(struct fx_opts){ 0 }, FE_SPLIT, 256, 65534);
	for (unsigned int i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
		CU_ASSERT_TRUE(fx_sends(60, SEGS(2000), false));
	}
	CU_ASSERT_EQUAL(ring(FE_TXQ)->used->idx, 1);
	CU_ASSERT_EQUAL(base_of(FE_RXQ), 1);
	CU_ASSERT_EQUAL(base_of(FE_TXQ), 1);
}

/* The used entry names the head, and its length is that of header and packet. */
static void
sp05_used_names_the_head(void)
{
	const struct vring_used_elem *e;
	int head;

	fx_start(FE_SPLIT, 16);
	CU_ASSERT_TRUE(fx_receives(1000, SEGS(12, 500, 500), false));
	head = fe_post(&fx.fe, FE_RXQ, SEGS(600, 600, 600), false);
	fe_fill(pkt, 1500, 1);
	CU_ASSERT_EQUAL(fx_send(1500, 1), 1);
	e = &ring(FE_RXQ)->used->ring[0];
	CU_ASSERT_EQUAL((int)e->id, head);
	CU_ASSERT_EQUAL(e->len, 12 + 1500);
	CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), 1500);
}

/* A head that is no descriptor is passed over, and counted: there is nothing to give back. */
static void
pk18_heads(void)
{
	static const uint16_t heads[] = { 16, 17, 0x8000, 0xffff };

	fx_start(FE_SPLIT, 16);
	for (unsigned int i = 0; i < RTE_DIM(heads); i++) {
		struct fe_ring *txq = ring(FE_TXQ);
		uint16_t used = txq->used->idx;

		txq->avail->ring[txq->drv.avail++ % 16] = heads[i];
		pvq_store_release(&txq->avail->idx, (uint16_t)txq->drv.avail);
		CU_ASSERT_EQUAL(fx_drain(), 0);
		CU_ASSERT_EQUAL(fx_stats(&fx.port).ierrors, i + 1);
		CU_ASSERT_EQUAL(txq->used->idx, used);
		CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
	}
}

static void
pk18_links(void)
{
	static const uint16_t nexts[] = { 16, 0x8000, 0xffff };

	fx_start(FE_SPLIT, 16);
	for (unsigned int i = 0; i < RTE_DIM(nexts); i++) {
		int head = fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 60)), false, false);

		ring(FE_TXQ)->desc[head].next = nexts[i];
		CU_ASSERT_TRUE(fx_drops(1));
		head = fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 60)), false, false);
		ring(FE_TXQ)->desc[head].next = head; /* round and round */
		CU_ASSERT_TRUE(fx_drops(1));
	}
}

/* The table of the buffer at @p head, whose entry @p i is changed. */
static void
spoil_table(int head, unsigned int i, uint16_t flags, uint16_t next)
{
	size_t table = ring(FE_TXQ)->buf[head]->table;
	struct vring_desc d;

	memcpy(&d, fe_host(&fx.fe, table + i * sizeof(d)), sizeof(d));
	d.flags = flags;
	d.next = next;
	memcpy(fe_host(&fx.fe, table + i * sizeof(d)), &d, sizeof(d));
}

static int
offer_table(void)
{
	return fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 30, 30)), false, true);
}

static void
in_tables(void)
{
	fx_start(FE_SPLIT, 16);
	CU_ASSERT_TRUE(fx_receives(60, SEGS(12, 30, 30), true));
	spoil_table(offer_table(), 1, VRING_DESC_F_INDIRECT, 0); /* IN05 */
	CU_ASSERT_TRUE(fx_drops(1));
	spoil_table(offer_table(), 2, VRING_DESC_F_NEXT, 3);
	CU_ASSERT_TRUE(fx_drops(1));
	spoil_table(offer_table(), 2, VRING_DESC_F_NEXT, 0);
	CU_ASSERT_TRUE(fx_drops(1));
	ring(FE_TXQ)->desc[offer_table()].len = 40; /* IN03 */
	CU_ASSERT_TRUE(fx_drops(1));
	ring(FE_TXQ)->desc[offer_table()].len = 17 * 16; /* IN09 */
	CU_ASSERT_TRUE(fx_drops(1));
	ring(FE_TXQ)->desc[offer_table()].flags |= VRING_DESC_F_NEXT;
	CU_ASSERT_TRUE(fx_drops(1));
	ring(FE_TXQ)->desc[offer_table()].addr = UINT64_C(0xdead0000);
	CU_ASSERT_TRUE(fx_drops(1));
}

/* A header by itself, then a table; WRITE on the table's descriptor says nothing. */
static void
in07_direct_then_table(void)
{
	struct fe_buf *buf;
	struct rte_mbuf *m;
	int head;

	fx_start(FE_SPLIT, 16);
	buf = fe_buf(&fx.fe, SEGS(30, 30));
	fe_fill(pkt, 60, 7);
	fe_buf_put(&fx.fe, buf, 0, pkt, 60);
	buf->table = fe_alloc(&fx.fe, 2 * sizeof(struct vring_desc));
	fe_split_table(&fx.fe, buf, false);
	head = fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 32)), false, false);
	ring(FE_TXQ)->desc[ring(FE_TXQ)->link[head]] = (struct vring_desc){
		.addr = fe_guest(&fx.fe, buf->table),
		.len = 2 * sizeof(struct vring_desc),
		.flags = VRING_DESC_F_INDIRECT | VRING_DESC_F_WRITE,
	};
	CU_ASSERT_EQUAL_FATAL(fx_rx(&m, 1), 1);
	CU_ASSERT_TRUE(fx_is_packet(&fx.port, m, pkt, 60));
	rte_pktmbuf_free(m);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	free(buf);
}

/* Without EVENT_IDX nobody writes behind the used ring. */
static void
ev07_guard(void)
{
	fx_start(FE_SPLIT, 8);
	for (unsigned int i = 0; i < 20; i++) {
		CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
		CU_ASSERT_TRUE(fx_sends(60, SEGS(2000), false));
	}
	CU_ASSERT_EQUAL(*fe_split_guard(ring(FE_RXQ)), FE_GUARD);
	CU_ASSERT_EQUAL(*fe_split_guard(ring(FE_TXQ)), FE_GUARD);
	CU_ASSERT_EQUAL(ring(FE_TXQ)->used->flags, VRING_USED_F_NO_NOTIFY);
}

/* SP07: what is received is used when the burst returns. NT13: and a burst is one call. */
static void
sp07_nt13_nothing_held_back(void)
{
	for (unsigned int event = 0; event < 2; event++) {
		const uint64_t features = FE_SPLIT | (event ? FE_EVENT_IDX : 0);

		if (event)
			fx_restart(features, 16, 0);
		else
			fx_start(features, 16);
		fx_offer(FE_TXQ, 1);
		CU_ASSERT_EQUAL(fx_drain(), 1);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
		fe_calls(ring(FE_RXQ));
		fx_post(FE_RXQ, 8, 2000);
		ring(FE_RXQ)->avail->ring[16] = ring(FE_RXQ)->used->idx + 3; /* used_event */
		CU_ASSERT_EQUAL(fx_burst(0, 8), 8);
		CU_ASSERT_EQUAL(fe_calls(ring(FE_RXQ)), 1);
		CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 8);
	}
}

/* Flags that ask for no call. */
static void
nt05_calls_by_flag(void)
{
	fx_start(FE_SPLIT, 16);
	fe_calls(ring(FE_TXQ));
	ring(FE_TXQ)->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
	CU_ASSERT_EQUAL(fe_calls(ring(FE_TXQ)), 0);
	ring(FE_TXQ)->avail->flags = 0;
	CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
	CU_ASSERT_EQUAL(fe_calls(ring(FE_TXQ)), 1);
}

static void
qe09_base_is_exact(void)
{
	fx_start(FE_SPLIT, 64);
	for (unsigned int i = 0; i < 1234; i++)
		CU_ASSERT_TRUE_FATAL(fx_receives(60, NULL, 0, false));
	for (unsigned int i = 0; i < 77; i++)
		CU_ASSERT_TRUE_FATAL(fx_sends(60, SEGS(2000), false));
	for (unsigned int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(base_of(FE_RXQ), 77);
		CU_ASSERT_EQUAL(base_of(FE_TXQ), 1234);
	}
}

/* A buffer in the wrong direction is never read, never written: a counted drop. */
static void
wrong_directions(void)
{
	struct rte_eth_stats stats;

	fx_start(FE_SPLIT, 16);
	fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(100)), true, false);
	fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 100)), true, false);
	fe_offer(&fx.fe, FE_TXQ, fe_buf(&fx.fe, SEGS(12, 100)), true, true);
	CU_ASSERT_TRUE(fx_drops(3));
	fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(2000)), false, false);
	fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(12, 2000)), false, true);
	CU_ASSERT_EQUAL(fx_send(60, 1) + fx_send(60, 2), 2);
	CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), FE_EMPTY);
	CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), FE_EMPTY);
	stats = fx_stats(&fx.port);
	CU_ASSERT_EQUAL(stats.oerrors, 2);
	CU_ASSERT_EQUAL(stats.opackets, 0);
}

/* With mergeable buffers one that is bad spoils the packet: all go back with nothing in them. */
static void
mergeable_with_a_bad_one(void)
{
	fx_start(FE_SPLIT | FE_MRG, 16);
	fe_post(&fx.fe, FE_RXQ, SEGS(100), false);
	fe_offer(&fx.fe, FE_RXQ, fe_buf(&fx.fe, SEGS(100)), false, false);
	CU_ASSERT_EQUAL(fx_send(180, 1), 1);
	CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), FE_EMPTY);
	CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), FE_EMPTY);
	CU_ASSERT_EQUAL(fx_stats(&fx.port).oerrors, 1);
	CU_ASSERT_TRUE(fx_sends(60, SEGS(2000), false));
}

/* An index that runs ahead of the ring: nothing is served, and the next frontend is. */
static void
index_runs_ahead(void)
{
	fx_start(FE_SPLIT, 16);
	pvq_store_release(&ring(FE_TXQ)->avail->idx, 17);
	pvq_store_release(&ring(FE_RXQ)->avail->idx, 0x8000);
	for (unsigned int i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(fx_drain(), 0);
		CU_ASSERT_EQUAL(fx_send(60, i), 0);
	}
	fx_restart(FE_SPLIT, 16, 0);
	CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "SP01: the index wraps", sp01_index_wraps },
		{ "SP05: a used entry names the head", sp05_used_names_the_head },
		{ "PK18: heads beyond the ring", pk18_heads },
		{ "PK18: links beyond the ring, and in a circle", pk18_links },
		{ "IN03, IN05, IN09: misshapen tables", in_tables },
		{ "IN07: a direct descriptor, then a table", in07_direct_then_table },
		{ "EV07: nobody writes behind the used ring", ev07_guard },
		{ "SP07, NT13: nothing is held back, one call", sp07_nt13_nothing_held_back },
		{ "NT05: calls by flag", nt05_calls_by_flag },
		{ "QE09: the base is exact", qe09_base_is_exact },
		{ "buffers in the wrong direction", wrong_directions },
		{ "mergeable buffers, one of them bad", mergeable_with_a_bad_one },
		{ "an index that runs ahead", index_runs_ahead },
		CU_TEST_INFO_NULL,
	};

	return fx_run("split", tests);
}
