/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "pvfwd.h"
#include "seqtrack.h"
#include "verify.h"

#define PREFETCH_AHEAD 4
/* Bytes of a head before the stamp. */
#define HEADERS_LEN offsetof(struct pvfwd_head, stamp)

struct pvfwd_flow {
	struct pvfwd_seqtrack seq;
	uint32_t len; /* head holds the headers of a packet this long; 0: of none yet */
	uint16_t session;
	struct pvfwd_head head;
};

struct pvfwd_verify *
pvfwd_verify_create(void)
{
	return calloc(1, sizeof(struct pvfwd_verify));
}

void
pvfwd_verify_destroy(struct pvfwd_verify *v)
{
	unsigned int i;

	if (v == NULL)
		return;
	for (i = 0; i < RTE_DIM(v->flows); i++)
		free(v->flows[i]);
	free(v);
}

/* The flow of a stamp known to be good; a new session of its sender starts it afresh. */
static inline struct pvfwd_flow *
flow_get(struct pvfwd_verify *v, const struct pvfwd_stamp *stamp)
{
	struct pvfwd_flow *flow = v->flows[stamp->flow];
	uint16_t session = stamp->seq >> PVFWD_SEQ_BITS;

	if (unlikely(flow == NULL)) {
		flow = calloc(1, sizeof(*flow));
		if (flow == NULL)
			return NULL;
		flow->session = session;
		v->flows[stamp->flow] = flow;
	}
	if (unlikely(flow->session != session)) {
		pvfwd_seq_reset(&flow->seq);
		flow->session = session;
		flow->len = 0;
	}
	return flow;
}

static inline void
note_seq(struct pvfwd_verify_counts *count, struct pvfwd_flow *flow, uint64_t seq)
{
	uint64_t gap;

	switch (pvfwd_seq_note(&flow->seq, seq & PVFWD_SEQ_MASK, &gap)) {
	case PVFWD_SEQ_NEW:
		if (unlikely(gap > 0))
			pvfwd_add(&count->lost, gap);
		break;
	case PVFWD_SEQ_LATE:
		pvfwd_add(&count->reordered, 1);
		pvfwd_add(&count->lost, -1);
		break;
	case PVFWD_SEQ_DUP:
		pvfwd_add(&count->duplicated, 1);
		break;
	}
}

/*
 * The headers follow from flow and length, but for the MAC addresses, which may have been
 * rewritten on the way: these must be the same in all packets of a flow.
 */
static inline bool
headers_ok(struct pvfwd_flow *flow, const struct pvfwd_head *head, uint32_t len)
{
	if (unlikely(flow->len != len)) {
		if (flow->len == 0)
			flow->head.eth = head->eth;
		pvfwd_head_init(&flow->head, head->stamp.flow, len);
		flow->len = len;
	}
	return memcmp(&flow->head, head, HEADERS_LEN) == 0;
}

/* All that follows the head; the lengths of the segments must add up, too. */
static inline bool
payload_ok(const struct rte_mbuf *m, const struct pvfwd_stamp *stamp)
{
	const uint8_t *pattern = pvfwd_pattern(stamp->flow, stamp->seq);
	uint32_t skip = PVFWD_MIN_LEN, left = m->pkt_len - PVFWD_MIN_LEN, n;

	for (; m != NULL; m = m->next) {
		n = m->data_len - RTE_MIN(skip, m->data_len);
		if (n > left || memcmp(rte_pktmbuf_mtod_offset(m, void *, skip), pattern, n) != 0)
			return false;
		skip -= m->data_len - n;
		pattern += n;
		left -= n;
	}
	return left == 0;
}

static inline bool
packet_ok(struct pvfwd_verify *v, const struct rte_mbuf *m, const struct pvfwd_head *head,
		uint64_t now)
{
	const struct pvfwd_stamp *stamp = &head->stamp;
	struct pvfwd_flow *flow;

	if (unlikely(!pvfwd_stamp_ok(stamp) || m->pkt_len > PVFWD_MAX_LEN))
		return false;
	flow = flow_get(v, stamp);
	if (unlikely(flow == NULL))
		return false;
	note_seq(&v->count, flow, stamp->seq);
	if (unlikely(!headers_ok(flow, head, m->pkt_len)))
		return false;
	if (m->pkt_len > PVFWD_MIN_LEN && unlikely(!payload_ok(m, stamp)))
		return false;
	/* two cores' counters may disagree by a little */
	pvfwd_latency_note(&v->latency, now > stamp->tsc ? now - stamp->tsc : 0);
	return true;
}

uint64_t
pvfwd_verify_burst(struct pvfwd_verify *v, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	const struct pvfwd_head *head;
	struct pvfwd_head copy;
	uint16_t i, foreign = 0, good = 0;
	uint64_t bytes = 0;

	for (i = 0; i < n; i++) {
		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH_AHEAD], void *));
		bytes += pkts[i]->pkt_len;
		head = rte_pktmbuf_read(pkts[i], 0, sizeof(copy), &copy);
		if (unlikely(head == NULL || head->stamp.magic != PVFWD_MAGIC))
			foreign++;
		else if (likely(packet_ok(v, pkts[i], head, now)))
			good++;
	}
	pvfwd_add(&v->count.received, n - foreign);
	pvfwd_add(&v->count.verified, good);
	pvfwd_add(&v->count.corrupted, n - foreign - good);
	pvfwd_add(&v->count.foreign, foreign);
	return bytes;
}
