/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/*
 * The driver sends, we receive: buffers of its transmit ring become mbufs.
 */

#include <rte_mempool.h>
#include <rte_prefetch.h>

#include "pvhost.h"
#include "pvhost_copy.h"
#include "pvhost_hdr.h"
#include "pvhost_ring.h"

/* A frame without a whole Ethernet header is no packet: applications read that much unasked. */
#define MIN_FRAME RTE_ETHER_HDR_LEN

/* The fields of an mbuf that receiving a packet sets; what the pool keeps right is left alone. */
static inline void
mbuf_init(struct rte_mbuf *m, uint64_t rearm, uint32_t len)
{
	memcpy(pvhost_mbuf_rearm(m), &rearm, sizeof(rearm));
	m->ol_flags = 0;
	m->packet_type = RTE_PTYPE_UNKNOWN;
	m->pkt_len = len;
	m->data_len = len;
	m->vlan_tci = 0;
}

/* How many of the buffers hold a plain frame: in one mapping and fitting one mbuf. Their host
 * addresses go to @p src, and their memory is on its way to the cache.
 */
static inline uint16_t
plain_frames(struct pvhost_queue *q, const struct pvq_single *buf, uint16_t n, uint8_t **src)
{
	const uint32_t hdr_len = q->hdr_len;
	const uint32_t min = hdr_len + MIN_FRAME, max = hdr_len + q->room;
	uint16_t i;

	for (i = 0; i < n; i++) {
		uint32_t len = buf[i].len;
		uint8_t *host;

		if (unlikely(len < min || len > max))
			break;
		host = pvq_mem_whole(&q->lookup, buf[i].addr, len);
		if (unlikely(host == NULL))
			break;
		src[i] = host + hdr_len;
		rte_prefetch0(src[i]);
	}
	return i;
}

/* The fast path: up to PVHOST_PASS frames of one direct descriptor each. */
static inline uint16_t
receive_plain(struct pvhost_queue *q, struct rte_mbuf **pkts, uint16_t max, const bool split)
{
	union pvhost_mark mark = pvhost_ring_mark(q, split);
	struct pvq_single buf[PVHOST_PASS];
	uint8_t *src[PVHOST_PASS];
	const uint32_t hdr_len = q->hdr_len;
	const uint64_t rearm = q->rearm;
	uint16_t taken, n;
	uint64_t bytes = 0;

	taken = pvhost_ring_next_singles(q, buf, RTE_MIN(max, PVHOST_PASS), false, split);
	if (taken == 0)
		return 0;
	n = plain_frames(q, buf, taken, src);
	if (n > 0 && unlikely(rte_mempool_get_bulk(q->pool, (void **)pkts, n) < 0))
		n = 0;
	if (unlikely(n < taken))
		pvhost_ring_keep(q, mark, n, split);
	for (uint16_t i = 0; i < n; i++) {
		uint32_t len = buf[i].len - hdr_len;

		mbuf_init(pkts[i], rearm, len);
		pvhost_copy(rte_pktmbuf_mtod(pkts[i], void *), src[i], len);
		bytes += len;
	}
	pvhost_ring_push_singles(q, buf, n, false, split);
	q->count.packets += n;
	q->count.bytes += bytes;
	return n;
}

/* Allocate the mbufs that @p len bytes want, chained. */
static struct rte_mbuf *
alloc_chain(struct pvhost_queue *q, uint32_t len)
{
	struct rte_mbuf *head = NULL, **last = &head;
	uint16_t nb_segs = 0;
	uint32_t left = len;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(q->pool);

		if (m == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		*last = m;
		last = &m->next;
		m->data_len = RTE_MIN(left, q->room);
		left -= m->data_len;
		nb_segs++;
	} while (left > 0);
	head->pkt_len = len;
	memcpy(pvhost_mbuf_rearm(head), &q->rearm, sizeof(q->rearm));
	head->nb_segs = nb_segs;
	return head;
}

/* Copy the frame behind @p pos into the chain @p m. */
static int
fill_chain(struct rte_mbuf *m, struct pvhost_pos *pos)
{
	for (; m != NULL; m = m->next)
		if (pvhost_pos_read(pos, rte_pktmbuf_mtod(m, uint8_t *), m->data_len) < 0)
			return -EFAULT;
	return 0;
}

/* DPDK's virtio driver fills its indirect packed tables with WRITE once, and then never clears it
 * on the entry of the header, nor on the entry whose number is that of the table's ring slot.
 * These two say nothing about the direction; all others do.
 */
static void
forgive_write(const struct pvhost_queue *q, const struct pvq_chain *chain, uint16_t slot)
{
	if (chain->nsegs == chain->ndesc) /* not a table, or one of a single entry */
		return;
	if (chain->segs[0].len == q->hdr_len)
		chain->segs[0].write = false;
	if (slot < chain->nsegs)
		chain->segs[slot].write = false;
}

/* Give a buffer back whose frame is lost. */
static int
drop(struct pvhost_queue *q, const struct pvq_chain *chain, uint64_t *reason)
{
	pvhost_ring_push(q, chain, 0);
	(*reason)++;
	return -1;
}

/* Any buffer, of whatever shape.
 * @return 1: a packet; 0: no buffer, or no mbuf for it yet; -1: a buffer whose frame was dropped
 */
static __rte_noinline int
receive_any(struct pvhost_queue *q, struct rte_mbuf **pkt)
{
	union pvhost_mark mark = pvhost_ring_mark(q, q->split);
	struct pvq_chain chain;
	struct pvhost_pos pos;
	struct rte_mbuf *m;
	int64_t len;
	int ret;

	q->segs.n = 0;
	ret = pvhost_ring_next_avail(q, &chain);
	if (ret == 0)
		return 0;
	if (ret < 0)
		return drop(q, &chain, &q->count.bad);
	if (!q->split)
		forgive_write(q, &chain, mark.packed.avail.idx);
	len = pvhost_segs_len(
			chain.segs, chain.segs + chain.nsegs, false, q->hdr_len + PVHOST_MAX_FRAME);
	if (len < q->hdr_len + MIN_FRAME)
		return drop(q, &chain, &q->count.bad);
	len -= q->hdr_len;
	if (len > q->room && (!q->scatter || len > (int64_t)q->room * q->pool->size))
		return drop(q, &chain, &q->count.too_big);
	m = alloc_chain(q, len);
	if (m == NULL) {
		pvhost_ring_rewind(q, mark, q->split);
		q->count.no_mbuf++;
		return 0;
	}
	pos = (struct pvhost_pos){ &q->lookup, chain.segs, chain.segs + chain.nsegs, 0 };
	if (pvhost_pos_skip(&pos, q->hdr_len) < 0 || fill_chain(m, &pos) < 0) {
		rte_pktmbuf_free(m);
		return drop(q, &chain, &q->count.bad);
	}
	pvhost_ring_push(q, &chain, 0);
	q->count.packets++;
	q->count.bytes += len;
	*pkt = m;
	return 1;
}

static __rte_always_inline uint16_t
receive(struct pvhost_queue *q, struct rte_mbuf **pkts, uint16_t n, const bool split)
{
	uint16_t got = 0, dropped = 0;

	/* A dropped buffer counts against the burst: the work is bounded whatever is sent. */
	while (got + dropped < n) {
		uint16_t plain = receive_plain(q, &pkts[got], n - got - dropped, split);
		int ret;

		got += plain;
		if (plain > 0)
			continue;
		ret = receive_any(q, &pkts[got]);
		if (ret == 0)
			break;
		got += ret > 0;
		dropped += ret < 0;
	}
	pvhost_ring_flush(q, split);
	return got;
}

uint16_t
pvhost_rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct pvhost_queue *q = queue;
	uint16_t got;

	if (unlikely(!pvhost_queue_enter(q)))
		return 0;
	got = q->split ? receive(q, pkts, n, true) : receive(q, pkts, n, false);
	pvhost_queue_leave(q);
	return got;
}
