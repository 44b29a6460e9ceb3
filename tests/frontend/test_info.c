/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What an application may ask of a port's queues, by value, on both ring formats. */

#include <string.h>

#include "fixture.h"

static const uint64_t formats[] = { FE_PLAIN, FE_SPLIT };

/* The value of an extended statistic, by its name. */
static uint64_t
xstat(const char *name)
{
	uint64_t id, value = UINT64_MAX;

	CU_ASSERT_EQUAL(rte_eth_xstats_get_id_by_name(fx.port.id, name, &id), 0);
	CU_ASSERT_EQUAL(rte_eth_xstats_get_by_id(fx.port.id, &id, &value, 1), 1);
	return value;
}

static void
on_format(uint64_t features, uint16_t size)
{
	if (features == formats[0])
		fx_start(features, size);
	else
		fx_restart(features, size, 0);
	CU_ASSERT_EQUAL(rte_eth_xstats_reset(fx.port.id), 0);
}

/* ST05: calls are counted on either format. */
static void
st05_calls(void)
{
	for (unsigned int f = 0; f < 2; f++) {
		on_format(formats[f], 64);
		for (unsigned int i = 0; i < 100; i++) {
			CU_ASSERT_TRUE_FATAL(fx_receives(60, NULL, 0, false));
			CU_ASSERT_TRUE_FATAL(fx_sends(60, SEGS(2000), false));
		}
		CU_ASSERT_EQUAL(xstat("rx_q0_calls"), 100);
		CU_ASSERT_EQUAL(xstat("tx_q0_calls"), 100);
		CU_ASSERT_EQUAL(xstat("rx_q0_flushes"), 100);
		CU_ASSERT_EQUAL(xstat("tx_q0_flushes"), 100);
		CU_ASSERT_EQUAL(rte_eth_xstats_reset(fx.port.id), 0);
		if (formats[f] & FE_PACKED)
			fx.fe.ring[FE_TXQ].drv.driver_event->flags =
					VRING_PACKED_EVENT_FLAG_DISABLE;
		else
			fx.fe.ring[FE_TXQ].avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
		CU_ASSERT_TRUE(fx_receives(60, NULL, 0, false));
		CU_ASSERT_EQUAL(xstat("rx_q0_calls"), 0);
		CU_ASSERT_EQUAL(xstat("rx_q0_flushes"), 1);
	}
}

static void
drop_reasons(void)
{
	for (unsigned int f = 0; f < 2; f++) {
		const struct pvq_seg nowhere = { .addr = 0xdead0000, .len = 100 };

		on_format(formats[f], 64);
		CU_ASSERT_TRUE(fe_raw(&fx.fe, FE_TXQ, &nowhere, 1, 0) >= 0);
		CU_ASSERT_EQUAL(fx_drain(), 0);
		CU_ASSERT_EQUAL(xstat("rx_q0_bad_buffers"), 1);
		CU_ASSERT_EQUAL(xstat("rx_q0_too_big_packets"), 0);
		fx_post(FE_RXQ, 1, 100);
		CU_ASSERT_EQUAL(fx_send(1500, 1), 1);
		CU_ASSERT_EQUAL(xstat("tx_q0_too_big_packets"), 1);
		CU_ASSERT_EQUAL(xstat("tx_q0_bad_buffers"), 0);
		CU_ASSERT_EQUAL(fx_send(60, 2), 1);
		CU_ASSERT_TRUE(fx_arrives(60, 2));
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	}
}

/* Names and values: 5 of each queue behind the ones that every port has. */
static void
xstats_shape(void)
{
	struct rte_eth_xstat_name names[64];
	struct rte_eth_xstat values[64];
	int n;

	fx_start_with(&(struct fx_opts){ .pairs = 2 }, FE_PLAIN, 64, 0);
	n = rte_eth_xstats_get_names(fx.port.id, NULL, 0);
	CU_ASSERT_TRUE_FATAL(n > 20 && n <= 64);
	CU_ASSERT_EQUAL(rte_eth_xstats_get_names(fx.port.id, names, 64), n);
	CU_ASSERT_EQUAL(rte_eth_xstats_get(fx.port.id, values, 64), n);
	CU_ASSERT_STRING_EQUAL(names[n - 20].name, "rx_q0_bad_buffers");
	CU_ASSERT_STRING_EQUAL(names[n - 11].name, "rx_q1_calls");
	CU_ASSERT_STRING_EQUAL(names[n - 1].name, "tx_q1_calls");
	for (int i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(values[i].id, (uint64_t)i);
		CU_ASSERT_EQUAL(values[i].value, 0);
	}
}

static int
rx_status(uint16_t offset)
{
	return rte_eth_rx_descriptor_status(fx.port.id, 0, offset);
}

static int
tx_status(uint16_t offset)
{
	return rte_eth_tx_descriptor_status(fx.port.id, 0, offset);
}

static void
occupancy(void)
{
	for (unsigned int f = 0; f < 2; f++) {
		on_format(formats[f], 8);
		CU_ASSERT_EQUAL(rte_eth_rx_queue_count(fx.port.id, 0), 0);
		CU_ASSERT_EQUAL(rx_status(0), RTE_ETH_RX_DESC_AVAIL);
		CU_ASSERT_EQUAL(tx_status(0), RTE_ETH_TX_DESC_FULL);
		fx_offer(FE_TXQ, 3);
		fx_post(FE_RXQ, 8, 2000);
		CU_ASSERT_EQUAL(rte_eth_rx_queue_count(fx.port.id, 0), 3);
		CU_ASSERT_EQUAL(rx_status(2), RTE_ETH_RX_DESC_DONE);
		CU_ASSERT_EQUAL(rx_status(3), RTE_ETH_RX_DESC_AVAIL);
		CU_ASSERT_EQUAL(rx_status(8), -EINVAL);
		CU_ASSERT_EQUAL(tx_status(7), RTE_ETH_TX_DESC_DONE);
		CU_ASSERT_EQUAL(tx_status(8), -EINVAL);
		CU_ASSERT_EQUAL(fx_drain(), 3);
		CU_ASSERT_EQUAL(rte_eth_rx_queue_count(fx.port.id, 0), 0);
		CU_ASSERT_EQUAL(fx_burst(0, 5), 5);
		CU_ASSERT_EQUAL(tx_status(2), RTE_ETH_TX_DESC_DONE);
		CU_ASSERT_EQUAL(tx_status(3), RTE_ETH_TX_DESC_FULL);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 3);
		CU_ASSERT_EQUAL(fx_collect(FE_RXQ), 5);
	}
	fe_ring_base(&fx.fe, FE_RXQ);
	fe_ring_base(&fx.fe, FE_TXQ);
	CU_ASSERT_EQUAL(rte_eth_rx_queue_count(fx.port.id, 0), 0);
	CU_ASSERT_EQUAL(rx_status(0), RTE_ETH_RX_DESC_UNAVAIL);
	CU_ASSERT_EQUAL(tx_status(0), RTE_ETH_TX_DESC_UNAVAIL);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_RXQ), 0);
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_TXQ), 0);
}

static void
infos(void)
{
	static const char *const rx[] = { "packed ring, scattered", "split ring, scattered" };
	static const char *const tx[] = { "packed ring, mergeable", "split ring, mergeable" };
	struct rte_eth_burst_mode mode;
	struct rte_eth_rxq_info rxq;
	struct rte_eth_txq_info txq;

	for (unsigned int f = 0; f < 2; f++) {
		if (f == 0)
			fx_start(formats[f] | FE_MRG, 128);
		else
			fx_restart(formats[f] | FE_MRG, 128, 0);
		CU_ASSERT_EQUAL(rte_eth_rx_burst_mode_get(fx.port.id, 0, &mode), 0);
		CU_ASSERT_STRING_EQUAL(mode.info, rx[f]);
		CU_ASSERT_EQUAL(rte_eth_tx_burst_mode_get(fx.port.id, 0, &mode), 0);
		CU_ASSERT_STRING_EQUAL(mode.info, tx[f]);
		CU_ASSERT_EQUAL(rte_eth_rx_queue_info_get(fx.port.id, 0, &rxq), 0);
		CU_ASSERT_PTR_EQUAL(rxq.mp, fx.pool);
		CU_ASSERT_EQUAL(rxq.scattered_rx, 1);
		CU_ASSERT_EQUAL(rxq.nb_desc, 128);
		CU_ASSERT_EQUAL(rxq.queue_state, RTE_ETH_QUEUE_STATE_STARTED);
		CU_ASSERT_EQUAL(rte_eth_tx_queue_info_get(fx.port.id, 0, &txq), 0);
		CU_ASSERT_EQUAL(txq.nb_desc, 128);
		CU_ASSERT_EQUAL(txq.queue_state, RTE_ETH_QUEUE_STATE_STARTED);
	}
	CU_ASSERT_EQUAL(rte_eth_dev_stop(fx.port.id), 0);
	CU_ASSERT_EQUAL(rte_eth_rx_queue_info_get(fx.port.id, 0, &rxq), 0);
	CU_ASSERT_EQUAL(rxq.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
	CU_ASSERT_EQUAL(rte_eth_dev_start(fx.port.id), 0);
	fe_ring_base(&fx.fe, FE_TXQ);
	CU_ASSERT_EQUAL(rte_eth_rx_burst_mode_get(fx.port.id, 0, &mode), 0);
	CU_ASSERT_STRING_EQUAL(mode.info, "no ring");
	CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_TXQ), 0);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "ST05: calls and flushes", st05_calls },
		{ "drop reasons", drop_reasons },
		{ "names and values", xstats_shape },
		{ "how full a ring is", occupancy },
		{ "how a queue is served", infos },
		CU_TEST_INFO_NULL,
	};

	return fx_run("info", tests);
}
