/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <string.h>

#include <rte_cycles.h>
#include <rte_memcpy.h>

#include "make.h"
#include "pvfwd.h"

void
pvfwd_make_init(struct pvfwd_stream *s)
{
	s->head.eth.dst_addr = s->mac_dst;
	s->head.eth.src_addr = s->mac_src;
	pvfwd_head_init(&s->head, s->first_flow, pvfwd.cfg.pkt_len);
}

/* The flow of packet n of the stream, and its sequence number there. */
static inline uint16_t
flow_of(const struct pvfwd_stream *s, uint64_t n, uint64_t *seq)
{
	*seq = (uint64_t)s->session << PVFWD_SEQ_BITS | (n >> s->flow_shift);
	return s->first_flow + (n & s->flow_mask);
}

/* One segment, the whole head in it. */
static inline void
write_linear(const struct pvfwd_stream *s, struct rte_mbuf *m, uint64_t n, uint64_t tsc)
{
	struct pvfwd_head *head = rte_pktmbuf_mtod(m, struct pvfwd_head *);
	uint32_t len = pvfwd.cfg.pkt_len;
	uint64_t seq;
	uint16_t flow = flow_of(s, n, &seq);

	m->data_len = len;
	m->pkt_len = len;
	*head = s->head;
	pvfwd_stamp_set(head, flow, seq, tsc);
	if (len > sizeof(*head))
		rte_memcpy(head + 1, pvfwd_pattern(flow, seq), len - sizeof(*head));
}

static bool
make_linear(struct pvfwd_stream *s, uint16_t n, uint64_t tsc)
{
	uint16_t i;

	if (rte_pktmbuf_alloc_bulk(s->pool, s->pkts, n) < 0)
		return false;
	for (i = 0; i < n; i++)
		write_linear(s, s->pkts[i], s->next + i, tsc);
	return true;
}

static struct rte_mbuf *
alloc_chain(struct rte_mempool *pool)
{
	struct rte_mbuf *segs[PVFWD_MAX_SEGS];
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	uint16_t i;

	if (rte_pktmbuf_alloc_bulk(pool, segs, cfg->nb_segs) < 0)
		return NULL;
	for (i = 0; i < cfg->nb_segs; i++) {
		segs[i]->data_len = cfg->seg_len[i];
		segs[i]->next = i + 1 < cfg->nb_segs ? segs[i + 1] : NULL;
	}
	segs[0]->nb_segs = cfg->nb_segs;
	segs[0]->pkt_len = cfg->pkt_len;
	return segs[0];
}

/* Copy len bytes to the place *at of the chain; leave behind where they end. */
static void
append(struct rte_mbuf **seg, uint32_t *at, const void *data, uint32_t len)
{
	const uint8_t *from = data;

	while (len > 0) {
		uint32_t n = RTE_MIN(len, (*seg)->data_len - *at);

		memcpy(rte_pktmbuf_mtod_offset(*seg, void *, *at), from, n);
		from += n;
		len -= n;
		*at += n;
		if (*at == (*seg)->data_len) {
			*seg = (*seg)->next;
			*at = 0;
		}
	}
}

static void
write_chain(const struct pvfwd_stream *s, struct rte_mbuf *m, uint64_t n, uint64_t tsc)
{
	struct pvfwd_head head = s->head;
	uint32_t at = 0, len = m->pkt_len;
	uint64_t seq;
	uint16_t flow = flow_of(s, n, &seq);

	pvfwd_stamp_set(&head, flow, seq, tsc);
	append(&m, &at, &head, sizeof(head));
	append(&m, &at, pvfwd_pattern(flow, seq), len - sizeof(head));
}

static bool
make_chains(struct pvfwd_stream *s, uint16_t n, uint64_t tsc)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		s->pkts[i] = alloc_chain(s->pool);
		if (s->pkts[i] == NULL) {
			rte_pktmbuf_free_bulk(s->pkts, i);
			return false;
		}
	}
	for (i = 0; i < n; i++)
		write_chain(s, s->pkts[i], s->next + i, tsc);
	return true;
}

bool
pvfwd_make(struct pvfwd_stream *s, uint16_t n)
{
	uint64_t tsc = rte_rdtsc();

	if (!(pvfwd.cfg.nb_segs == 1 ? make_linear(s, n, tsc) : make_chains(s, n, tsc)))
		return false;
	s->next += n;
	s->nb_held = n;
	s->first_held = 0;
	s->held_bytes = (uint64_t)n * pvfwd.cfg.pkt_len;
	return true;
}
