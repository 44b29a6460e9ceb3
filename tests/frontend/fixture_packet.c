/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packets between the fixture's port and its frontend. */

#include <string.h>

#include "fixture.h"

static uint8_t pattern[FX_MAX_PKT], received[FX_MAX_PKT];
static uint64_t seed = 1;

struct rte_mbuf *
fx_mbuf(const uint8_t *pkt, uint32_t len, const uint32_t *lens, unsigned int n)
{
	uint32_t most = rte_pktmbuf_data_room_size(fx.pool) - RTE_PKTMBUF_HEADROOM;
	struct rte_mbuf *head = NULL;
	uint32_t at = 0;

	for (unsigned int i = 0; i < n || at < len || head == NULL; i++) {
		uint32_t part = i < n ? lens[i] : RTE_MIN(len - at, most);
		struct rte_mbuf *m = rte_pktmbuf_alloc(fx.pool);

		if (m == NULL)
			rte_exit(1, "no mbuf for a packet\n");
		memcpy(rte_pktmbuf_append(m, part), pkt + at, part);
		at += part;
		if (head == NULL)
			head = m;
		else if (rte_pktmbuf_chain(head, m) < 0)
			rte_exit(1, "too many mbufs for a packet\n");
	}
	return head;
}

bool
fx_is_packet(const struct fx_port *port, const struct rte_mbuf *m, const uint8_t *pkt,
		uint32_t len)
{
	uint16_t segs = 0;
	uint32_t at = 0;

	if (m->pkt_len != len || m->ol_flags != 0 || m->port != port->id || m->vlan_tci != 0 ||
			rte_mbuf_refcnt_read(m) != 1)
		return false;
	for (const struct rte_mbuf *s = m; s != NULL; s = s->next, segs++) {
		if (at + s->data_len > len || s->data_off != RTE_PKTMBUF_HEADROOM ||
				memcmp(rte_pktmbuf_mtod(s, void *), pkt + at, s->data_len) != 0)
			return false;
		at += s->data_len;
	}
	return at == len && segs == m->nb_segs;
}

unsigned int
fx_drain(void)
{
	struct rte_mbuf *pkts[32];
	unsigned int n = 0;
	uint16_t got;

	while ((got = fx_rx(pkts, RTE_DIM(pkts))) > 0) {
		rte_pktmbuf_free_bulk(pkts, got);
		n += got;
	}
	return n;
}

bool
fx_drops(unsigned int n)
{
	uint64_t errors = fx_stats(&fx.port).ierrors;
	unsigned int packets = fx_drain(), back = fe_reap(&fx.fe, FE_TXQ);

	errors = fx_stats(&fx.port).ierrors - errors;
	if (packets == 0 && errors == n && back == n)
		return true;
	fe_fault(&fx.fe, "of %u bad buffers %u became packets, %lu were counted, %u are back", n,
			packets, errors, back);
	return false;
}

bool
fx_receives(uint32_t len, const uint32_t *lens, unsigned int n, bool indirect)
{
	struct rte_mbuf *pkts[4];
	uint16_t got;
	bool ok;

	fe_fill(pattern, len, ++seed);
	if (fe_send(&fx.fe, FE_TXQ, pattern, len, lens, n, indirect) < 0)
		return false;
	got = fx_rx(pkts, RTE_DIM(pkts));
	ok = got == 1 && fx_is_packet(&fx.port, pkts[0], pattern, len);
	rte_pktmbuf_free_bulk(pkts, got);
	return fe_reap(&fx.fe, FE_TXQ) == 1 && ok;
}

bool
fx_sends(uint32_t len, const uint32_t *lens, unsigned int n, bool indirect)
{
	struct rte_mbuf *m;

	fe_fill(pattern, len, ++seed);
	if (fe_post(&fx.fe, FE_RXQ, lens, n, indirect) < 0)
		return false;
	m = fx_mbuf(pattern, len, NULL, 0);
	if (fx_tx(&m, 1) != 1) {
		rte_pktmbuf_free(m);
		return false;
	}
	return fe_receive(&fx.fe, FE_RXQ, received, sizeof(received)) == (int)len &&
			memcmp(pattern, received, len) == 0 &&
			fe_receive(&fx.fe, FE_RXQ, received, sizeof(received)) == FE_NONE;
}

bool
fx_good(void)
{
	const uint32_t room = 2000;

	return fx_receives(100, NULL, 0, false) && fx_sends(100, &room, 1, false);
}

struct rte_mbuf *
fx_packet(uint32_t len, uint64_t number)
{
	fe_fill(pattern, len, number);
	return fx_mbuf(pattern, len, NULL, 0);
}

uint16_t
fx_send(uint32_t len, uint64_t number)
{
	struct rte_mbuf *m = fx_packet(len, number);

	if (fx_tx(&m, 1) == 1)
		return 1;
	rte_pktmbuf_free(m);
	return 0;
}

bool
fx_arrives(uint32_t len, uint64_t number)
{
	fe_fill(pattern, len, number);
	return fe_receive(&fx.fe, FE_RXQ, received, sizeof(received)) == (int)len &&
			memcmp(received, pattern, len) == 0;
}

void
fx_post(unsigned int ring, unsigned int n, uint32_t len)
{
	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_TRUE(fe_post(&fx.fe, ring, &len, 1, false) >= 0);
}

void
fx_offer(unsigned int ring, unsigned int n)
{
	fe_fill(pattern, 60, 1);
	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_TRUE(fe_send(&fx.fe, ring, pattern, 60, NULL, 0, false) >= 0);
}

uint16_t
fx_burst(uint16_t queue, uint16_t n)
{
	struct rte_mbuf *pkts[64];
	uint16_t sent;

	for (uint16_t i = 0; i < n; i++)
		pkts[i] = fx_packet(60, i);
	sent = rte_eth_tx_burst(fx.port.id, queue, pkts, n);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	return sent;
}

unsigned int
fx_collect(unsigned int ring)
{
	unsigned int n = 0;
	int len;

	while ((len = fe_receive(&fx.fe, ring, received, sizeof(received))) != FE_NONE)
		n += len == 60;
	return n;
}
