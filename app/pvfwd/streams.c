/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdlib.h>

#include <bsd/stdlib.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "make.h"
#include "pvfwd.h"
#include "setup.h"
#include "verify.h"

#define MULTI_FLOW_SHIFT 4

/* 0 with 1, 2 with 3, …; a last one without a partner with itself */
static uint16_t
partner(uint16_t i)
{
	return (i ^ 1) < pvfwd.nb_ports ? i ^ 1 : i;
}

static void
init_maker(struct pvfwd_stream *s, uint16_t index)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	uint64_t share = cfg->packets / pvfwd.nb_streams;

	s->flow_shift = cfg->multi_flow ? MULTI_FLOW_SHIFT : 0;
	s->flow_mask = (1 << s->flow_shift) - 1;
	s->first_flow = (index + 1) << s->flow_shift; /* 0 is no UDP port */
	s->limit = UINT64_MAX;
	if (cfg->packets > 0)
		s->limit = share + (index < cfg->packets % pvfwd.nb_streams);
	pvfwd_make_init(s);
}

static struct pvfwd_stream *
stream_create(uint16_t index, unsigned int socket, uint16_t session)
{
	const struct pvfwd_engine *engine = pvfwd.cfg.engine;
	uint16_t queues = engine->rx ? pvfwd.cfg.rxq : pvfwd.cfg.txq;
	uint16_t port = index / queues, queue = index % queues;
	uint16_t to = engine->rx ? partner(port) : port;
	struct pvfwd_stream *s;

	s = rte_zmalloc_socket("pvfwd_stream", sizeof(*s), RTE_CACHE_LINE_SIZE, socket);
	if (s == NULL)
		return NULL;
	s->rx_port = pvfwd.ports[port];
	s->tx_port = pvfwd.ports[to];
	s->rx_queue = queue;
	s->tx_queue = queue;
	s->burst = pvfwd.cfg.burst;
	s->pool = pvfwd.pool;
	s->session = session;
	rte_eth_macaddr_get(s->tx_port, &s->mac_src);
	/* testpmd's address of a peer: locally administered, ending in the port's number */
	s->mac_dst = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 0, to } };
	init_maker(s, index);
	return s;
}

/* The lcores that forward: the workers first, the main lcore when all others are taken. */
static void
lcores_choose(void)
{
	uint16_t n = 0;
	unsigned int id;

	RTE_LCORE_FOREACH_WORKER (id) {
		if (n < pvfwd.nb_lcores)
			pvfwd.lcores[n++].id = id;
	}
	if (n < pvfwd.nb_lcores)
		pvfwd.lcores[n].id = rte_get_main_lcore();
}

static int
lcores_create(void)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	uint16_t i;

	if (cfg->nb_cores > rte_lcore_count()) {
		pvfwd_error("--nb-cores=%" PRId64 ": EAL has %u lcores (see its -l)", cfg->nb_cores,
				rte_lcore_count());
		return -1;
	}
	pvfwd.nb_lcores = RTE_MIN(cfg->nb_cores, pvfwd.nb_streams);
	pvfwd.lcores = calloc(pvfwd.nb_lcores, sizeof(*pvfwd.lcores));
	if (pvfwd.lcores == NULL)
		goto no_memory;
	lcores_choose();
	for (i = 0; i < pvfwd.nb_lcores; i++) {
		struct pvfwd_lcore *lc = &pvfwd.lcores[i];

		lc->streams = calloc(pvfwd.nb_streams, sizeof(*lc->streams));
		if (lc->streams == NULL)
			goto no_memory;
		if (cfg->engine->tx)
			continue;
		lc->verify = pvfwd_verify_create();
		if (lc->verify == NULL)
			goto no_memory;
	}
	return 0;

no_memory:
	pvfwd_error("out of memory");
	return -1;
}

int
pvfwd_streams_create(void)
{
	const struct pvfwd_config *cfg = &pvfwd.cfg;
	uint16_t session = arc4random();
	uint16_t i;

	pvfwd.nb_streams = pvfwd.nb_ports * (cfg->engine->rx ? cfg->rxq : cfg->txq);
	pvfwd.streams = calloc(pvfwd.nb_streams, sizeof(*pvfwd.streams));
	if (pvfwd.streams == NULL || lcores_create() < 0)
		return -1;
	for (i = 0; i < pvfwd.nb_streams; i++) {
		struct pvfwd_lcore *lc = &pvfwd.lcores[i % pvfwd.nb_lcores];

		pvfwd.streams[i] = stream_create(i, rte_lcore_to_socket_id(lc->id), session);
		if (pvfwd.streams[i] == NULL) {
			pvfwd_error("out of memory");
			return -1;
		}
		pvfwd.streams[i]->verify = lc->verify;
		lc->streams[lc->nb_streams++] = pvfwd.streams[i];
	}
	return 0;
}

void
pvfwd_streams_destroy(void)
{
	uint16_t i;

	for (i = 0; pvfwd.streams != NULL && i < pvfwd.nb_streams; i++)
		rte_free(pvfwd.streams[i]);
	for (i = 0; pvfwd.lcores != NULL && i < pvfwd.nb_lcores; i++) {
		free(pvfwd.lcores[i].streams);
		pvfwd_verify_destroy(pvfwd.lcores[i].verify);
	}
	free(pvfwd.streams);
	free(pvfwd.lcores);
}
