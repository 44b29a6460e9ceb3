/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"

void
flow_init(struct flow *flow, struct fe *fe, const struct fx_port *port,
		const struct flow_conf *conf)
{
	static uint64_t number;

	memset(flow, 0, sizeof(*flow));
	flow->fe = fe;
	flow->port = port;
	flow->conf = *conf;
	flow->seed = 0x9e3779b97f4a7c15 * ++number;
}

static uint32_t
between(uint64_t *seed, uint32_t min, uint32_t max)
{
	return min + pvq_rand_below(seed, max - min + 1);
}

/* Packet @p k: its bytes go to flow->pkt. @return its length */
static uint32_t
make_packet(struct flow *flow, uint64_t k)
{
	uint64_t seed = k * 0xff51afd7ed558ccd + 1;
	uint32_t len;

	pvq_rand(&seed);
	len = between(&seed, flow->conf.min_len, flow->conf.max_len);
	fe_fill(flow->pkt, len, k);
	return len;
}

static unsigned int
max_segs(const struct flow *flow, unsigned int ring)
{
	return RTE_MIN(flow->conf.max_segs, flow->fe->ring[ring].drv.size);
}

static void
offer(struct flow *flow)
{
	uint32_t lens[FE_MAX_SEGS];
	uint32_t len = make_packet(flow, flow->offered);
	unsigned int n = fe_cut(&flow->seed, flow->fe->hdr_len + len, max_segs(flow, FE_TXQ), lens);
	bool indirect = flow->conf.indirect && pvq_rand_below(&flow->seed, 2);

	if (fe_send(flow->fe, FE_TXQ, flow->pkt, len, lens, n, indirect) >= 0)
		flow->offered++;
}

static unsigned int
receive(struct flow *flow, uint16_t burst)
{
	struct rte_mbuf *pkts[FLOW_BURST];
	uint16_t n = rte_eth_rx_burst(flow->port->id, 0, pkts, burst);

	for (uint16_t i = 0; i < n; i++) {
		uint32_t len = make_packet(flow, flow->received++);

		if (!fx_is_packet(flow->port, pkts[i], flow->pkt, len))
			fe_fault(flow->fe, "packet %lu received is not the one sent",
					flow->received - 1);
	}
	rte_pktmbuf_free_bulk(pkts, n);
	fe_reap(flow->fe, FE_TXQ);
	return n;
}

unsigned int
flow_receive(struct flow *flow)
{
	for (uint32_t i = between(&flow->seed, 0, 2 * flow->conf.burst); i > 0; i--)
		if (flow->offered - flow->received < 2 * FLOW_BURST)
			offer(flow);
	return receive(flow, between(&flow->seed, 1, flow->conf.burst));
}

static void
post(struct flow *flow)
{
	const struct flow_conf *conf = &flow->conf;
	uint32_t lens[FE_MAX_SEGS];
	uint32_t room = between(&flow->seed, conf->min_room, conf->max_room);
	/* Full tiny rings are to have room enough: there a buffer takes one slot. */
	bool tiny = flow->fe->ring[FE_RXQ].drv.size <= FLOW_BURST;
	bool indirect = conf->indirect && (tiny || pvq_rand_below(&flow->seed, 2));
	unsigned int segs = tiny && !indirect ? 1 : max_segs(flow, FE_RXQ);
	unsigned int n = fe_cut(&flow->seed, room, segs, lens);

	fe_post(flow->fe, FE_RXQ, lens, n, indirect);
}

/* An mbuf chain of packet flow->accepted + @p i. */
static struct rte_mbuf *
next_packet(struct flow *flow, uint16_t i)
{
	uint32_t lens[FE_MAX_SEGS];
	uint32_t len = make_packet(flow, flow->accepted + i);
	unsigned int n = 0;

	if (len <= FX_ROOM)
		n = fe_cut(&flow->seed, len, flow->conf.max_segs, lens);
	return fx_mbuf(flow->pkt, len, lens, n);
}

static unsigned int
arrive(struct flow *flow)
{
	unsigned int n = 0;
	int got;

	while ((got = fe_receive(flow->fe, FE_RXQ, flow->got, sizeof(flow->got))) != FE_NONE) {
		uint32_t len = make_packet(flow, flow->arrived++);

		if (got != (int)len || memcmp(flow->got, flow->pkt, len) != 0)
			fe_fault(flow->fe, "packet %lu arrived with length %d, sent with %u",
					flow->arrived - 1, got, len);
		n++;
	}
	return n;
}

static unsigned int
transmit(struct flow *flow, uint16_t n)
{
	uint16_t sent;

	while (flow->nheld < n) {
		flow->held[flow->nheld] = next_packet(flow, flow->nheld);
		flow->nheld++;
	}
	sent = rte_eth_tx_burst(flow->port->id, 0, flow->held, n);
	flow->nheld -= sent;
	flow->accepted += sent;
	memmove(flow->held, flow->held + sent, flow->nheld * sizeof(flow->held[0]));
	return arrive(flow);
}

unsigned int
flow_send(struct flow *flow)
{
	const struct pvq_driver *drv = &flow->fe->ring[FE_RXQ].drv;

	for (uint32_t i = between(&flow->seed, 0, 2 * flow->conf.burst); i > 0; i--)
		if (drv->size - drv->nfree_ids < 2 * FLOW_BURST)
			post(flow);
	return transmit(flow, between(&flow->seed, 1, flow->conf.burst));
}

bool
flow_settle(struct flow *flow)
{
	const struct pvq_driver *drv = &flow->fe->ring[FE_RXQ].drv;
	uint64_t give_up = fx_now_ms() + 2000;

	while (flow->received < flow->offered && fx_now_ms() < give_up)
		receive(flow, FLOW_BURST);
	rte_pktmbuf_free_bulk(flow->held, flow->nheld);
	flow->nheld = 0;
	/* Small packets use up the buffers that are posted still. */
	flow->conf.max_len = flow->conf.min_len;
	while (drv->avail != drv->used && fx_now_ms() < give_up)
		transmit(flow, 1);
	rte_pktmbuf_free_bulk(flow->held, flow->nheld);
	flow->nheld = 0;
	return flow->received == flow->offered && flow->arrived == flow->accepted &&
			drv->avail == drv->used;
}

static void *
run(void *arg)
{
	struct flow_thread *ft = arg;
	uint64_t last = fx_now_ms();

	while (!pvq_load_acquire(&ft->stop)) {
		unsigned int n = flow_receive(&ft->flow) + flow_send(&ft->flow);
		uint64_t now = fx_now_ms();

		if (now - last > ft->longest_ms)
			ft->longest_ms = now - last;
		if (n > 0)
			last = now;
		pvq_store(&ft->packets, ft->packets + n);
		sched_yield();
	}
	return NULL;
}

void
flow_thread_start(struct flow_thread *ft, struct fe *fe, const struct fx_port *port,
		const struct flow_conf *conf)
{
	memset(ft, 0, sizeof(*ft));
	flow_init(&ft->flow, fe, port, conf);
	flow_thread_resume(ft);
}

void
flow_thread_resume(struct flow_thread *ft)
{
	ft->stop = false;
	ft->longest_ms = 0;
	if (pthread_create(&ft->thread, NULL, run, ft) != 0)
		errx(1, "no thread");
}

bool
flow_thread_moves(struct flow_thread *ft, uint64_t n)
{
	uint64_t want = pvq_load(&ft->packets) + n;
	uint64_t give_up = fx_now_ms() + 10000;

	while (pvq_load(&ft->packets) < want) {
		if (fx_now_ms() > give_up)
			return false;
		usleep(1000);
	}
	return true;
}

bool
flow_thread_stop(struct flow_thread *ft, uint64_t max_ms)
{
	pvq_store_release(&ft->stop, true);
	pthread_join(ft->thread, NULL);
	if (ft->longest_ms > max_ms)
		fe_fault(ft->flow.fe, "traffic paused for %lu ms", ft->longest_ms);
	return ft->longest_ms <= max_ms;
}
