/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <time.h>
#include <unistd.h>

#include "fixture.h"

struct fx fx;

uint64_t
fx_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

bool
fx_wait(bool (*done)(void *arg), void *arg)
{
	uint64_t give_up = fx_now_ms() + 2000;

	while (!done(arg)) {
		if (fx_now_ms() > give_up)
			return false;
		usleep(1000);
	}
	return true;
}

bool
fx_link_up(const struct fx_port *port)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port->id, &link) == 0 &&
			link.link_status == RTE_ETH_LINK_UP;
}

struct rte_eth_stats
fx_stats(const struct fx_port *port)
{
	struct rte_eth_stats stats;

	CU_ASSERT_EQUAL(rte_eth_stats_get(port->id, &stats), 0);
	return stats;
}

void
fx_restart(uint64_t features, uint16_t size, uint64_t slots)
{
	fe_close(&fx.fe);
	fx.size = size;
	CU_ASSERT_EQUAL_FATAL(fe_open(&fx.fe, fx.port.path, features), 0);
	CU_ASSERT_EQUAL_FATAL(fe_ring_up(&fx.fe, FE_RXQ, size, slots), 0);
	CU_ASSERT_EQUAL_FATAL(fe_ring_up(&fx.fe, FE_TXQ, size, slots), 0);
}

void
fx_start_with(const struct fx_opts *opts, uint64_t features, uint16_t size, uint64_t slots)
{
	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, opts), 0);
	fx_restart(features, size, slots);
}

void
fx_start(uint64_t features, uint16_t size)
{
	fx_start_with(&(struct fx_opts){ 0 }, features, size, 0);
}
