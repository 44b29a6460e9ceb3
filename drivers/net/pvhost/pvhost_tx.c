/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/*
 * The driver receives, we send: mbufs go into buffers of its receive ring.
 */

#include <rte_mempool.h>
#include <rte_prefetch.h>

#include "pvhost.h"
#include "pvhost_copy.h"
#include "pvhost_hdr.h"
#include "pvhost_ring.h"

/* 2.8.4: a buffer holds at most 2^32 bytes. */
#define MAX_BUFFER (UINT64_C(1) << 32)

/* How many of the packets are one mbuf each and fit their buffer, which is in one mapping. The
 * buffers' host addresses go to @p dst, and their len becomes what will be written.
 */
static inline uint16_t
plain_packets(struct pvhost_queue *q, struct rte_mbuf **pkts, struct pvq_single *buf, uint16_t n,
		uint8_t **dst)
{
	const uint32_t hdr_len = q->hdr_len;
	uint16_t i;

	for (i = 0; i < n; i++) {
		const struct rte_mbuf *m = pkts[i];
		uint32_t len = hdr_len + m->data_len;

		if (unlikely(m->nb_segs != 1 || len > buf[i].len))
			break;
		buf[i].len = len;
		dst[i] = pvq_mem_whole(&q->lookup, buf[i].addr, len);
		if (unlikely(dst[i] == NULL))
			break;
		pvhost_prefetch_write(dst[i], len);
		rte_prefetch0(rte_pktmbuf_mtod(m, void *));
	}
	return i;
}

/* The fast path: up to PVHOST_PASS packets, each into a buffer of one direct descriptor. */
static inline uint16_t
send_plain(struct pvhost_queue *q, struct rte_mbuf **pkts, uint16_t max, const bool split)
{
	union pvhost_mark mark = pvhost_ring_mark(q, split);
	struct pvq_single buf[PVHOST_PASS];
	uint8_t *dst[PVHOST_PASS];
	const uint8_t hdr_len = q->hdr_len;
	uint16_t taken, n;
	uint64_t bytes = 0;

	taken = pvhost_ring_next_singles(q, buf, RTE_MIN(max, PVHOST_PASS), true, split);
	if (taken == 0)
		return 0;
	n = plain_packets(q, pkts, buf, taken, dst);
	if (unlikely(n < taken))
		pvhost_ring_keep(q, mark, n, split);
	for (uint16_t i = 0; i < n; i++) {
		uint32_t len = pkts[i]->data_len;

		pvhost_hdr_write(dst[i], hdr_len, 1);
		pvhost_copy(dst[i] + hdr_len, rte_pktmbuf_mtod(pkts[i], void *), len);
		bytes += len;
	}
	pvhost_ring_push_singles(q, buf, n, true, split);
	q->count.packets += n;
	q->count.bytes += bytes;
	return n;
}

/* Collect buffers until @p len bytes fit: one, or with mergeable buffers several, all but the last
 * one full. They are noted as used with the lengths they will have.
 * @return their number; 0: the ring has too few; -EINVAL: one is bad; -EMSGSIZE: they can never
 *         hold it
 */
static int
collect_buffers(struct pvhost_queue *q, uint32_t len)
{
	const uint16_t size = pvhost_ring_size(q);
	uint32_t ndesc = 0;
	int num_buffers = 0;

	q->segs.n = 0;
	while (len > 0) {
		struct pvq_chain chain;
		int64_t room;
		int ret = pvhost_ring_next_avail(q, &chain);

		if (ret == 0)
			return ndesc >= size ? -EMSGSIZE : 0;
		room = ret < 0 ? ret
			       : pvhost_segs_len(chain.segs, chain.segs + chain.nsegs, true,
						 MAX_BUFFER);
		/* The first one takes the header, all take something. */
		if (room < RTE_MAX(num_buffers == 0 ? q->hdr_len : 0, 1)) {
			pvhost_ring_push(q, &chain, 0);
			return -EINVAL;
		}
		if (room < len && !q->mergeable)
			return -EMSGSIZE;
		room = RTE_MIN(room, len);
		pvhost_ring_push(q, &chain, room);
		ndesc += chain.ndesc;
		len -= room;
		num_buffers++;
	}
	return num_buffers;
}

/* Write the header and the packet over the collected segments. */
static int
fill_buffers(struct pvhost_queue *q, const struct rte_mbuf *m, int num_buffers)
{
	struct pvhost_pos pos = { &q->lookup, q->segs.seg, q->segs.seg + q->segs.n, 0 };
	uint8_t hdr[sizeof(struct virtio_net_hdr_mrg_rxbuf)];

	pvhost_hdr_write(hdr, q->hdr_len, num_buffers);
	if (pvhost_pos_write(&pos, hdr, q->hdr_len) < 0)
		return -EFAULT;
	for (; m != NULL; m = m->next)
		if (pvhost_pos_write(&pos, rte_pktmbuf_mtod(m, uint8_t *), m->data_len) < 0)
			return -EFAULT;
	return 0;
}

/* Any packet, into buffers of whatever shape.
 * @return 1: sent; 0: no room for it yet; -1: dropped
 */
static __rte_noinline int
send_any(struct pvhost_queue *q, const struct rte_mbuf *m)
{
	union pvhost_mark mark = pvhost_ring_mark(q, q->split);
	int num_buffers;

	if (unlikely(m->pkt_len > PVHOST_MAX_FRAME)) {
		q->count.too_big++;
		return -1;
	}
	num_buffers = collect_buffers(q, q->hdr_len + m->pkt_len);
	if (num_buffers == 0 || num_buffers == -EMSGSIZE) {
		pvhost_ring_rewind(q, mark, q->split);
		q->count.too_big += num_buffers < 0;
		return num_buffers == 0 ? 0 : -1;
	}
	if (num_buffers < 0 || fill_buffers(q, m, num_buffers) < 0) {
		/* One bad buffer spoils the packet; all that were taken go back empty. */
		pvhost_ring_empty(q, mark);
		q->count.bad++;
		return -1;
	}
	q->count.packets++;
	q->count.bytes += m->pkt_len;
	return 1;
}

/* Nearly always each packet is one mbuf of the same pool that nobody else holds: then the whole
 * burst goes back to the pool's cache as it is.
 */
static inline void
free_sent(struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = pkts[i];

		if (unlikely(m->nb_segs != 1 || !RTE_MBUF_DIRECT(m) || m->pool != pkts[0]->pool ||
				    rte_mbuf_refcnt_read(m) != 1)) {
			rte_pktmbuf_free_bulk(pkts, n);
			return;
		}
	}
	if (n > 0)
		rte_mempool_put_bulk(pkts[0]->pool, (void **)pkts, n);
}

static __rte_always_inline uint16_t
send(struct pvhost_queue *q, struct rte_mbuf **pkts, uint16_t n, const bool split)
{
	uint16_t done = 0;

	while (done < n) {
		uint16_t plain = send_plain(q, &pkts[done], n - done, split);

		done += plain;
		if (plain > 0)
			continue;
		if (send_any(q, pkts[done]) == 0)
			break;
		done++;
	}
	pvhost_ring_flush(q, split);
	return done;
}

uint16_t
pvhost_tx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct pvhost_queue *q = queue;
	uint16_t done;

	if (unlikely(!pvhost_queue_enter(q)))
		return 0;
	done = q->split ? send(q, pkts, n, true) : send(q, pkts, n, false);
	pvhost_queue_leave(q);
	free_sent(pkts, done);
	return done;
}
