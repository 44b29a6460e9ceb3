/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Ports that come and go, with frontends on them. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>
#include <rte_dev.h>
#include <rte_mempool.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

/* What it sends meanwhile waits in the ring; what has been done is not done again. */
static void
test_stop_start(void)
{
	fx_start(FE_PLAIN, 64);
	for (unsigned int i = 0; i < 50; i++) {
		CU_ASSERT_TRUE(fx_good());
		CU_ASSERT_EQUAL(rte_eth_dev_stop(fx.port.id), 0);
		fe_fill(pkt, 60, i);
		CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false) >= 0);
		/* The ring moves while the port is stopped. */
		CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, i % 2), 0);
		CU_ASSERT_EQUAL(rte_eth_dev_start(fx.port.id), 0);
		CU_ASSERT_EQUAL(fx_drain(), 1);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	}
}

/* A frontend that comes while the port is stopped, or before it was ever started. */
static void
test_start_late(void)
{
	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ 0 }), 0);
	CU_ASSERT_EQUAL(rte_eth_dev_stop(fx.port.id), 0);
	fx_restart(FE_PLAIN, 16, 0);
	CU_ASSERT_TRUE(fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false) >= 0);
	CU_ASSERT_EQUAL(rte_eth_dev_start(fx.port.id), 0);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
}

struct flood {
	char path[64];
	bool stop;
	unsigned int served;
};

/* Connects, sends what it can, leaves, and now and then is a good frontend. */
static void *
run_flood(void *arg)
{
	struct flood *flood = arg;
	struct fe fe;

	for (unsigned int i = 0; !pvq_load(&flood->stop); i++) {
		fe = (struct fe){ .peer.fd = -1 };
		if (peer_connect(&fe.peer, flood->path) < 0) {
			usleep(200);
			continue;
		}
		for (unsigned int n = 0; n < 64; n++)
			peer_send(&fe.peer, PVU_GET_FEATURES, 0, NULL, 0, NULL, 0);
		if (i % 2 == 0) {
			fe_close(&fe);
			if (peer_connect(&fe.peer, flood->path) == 0 &&
					fe_greet(&fe, FE_PLAIN) == 0 &&
					fe_ring_up(&fe, FE_RXQ, 64, 0) == 0)
				pvq_store(&flood->served, flood->served + 1);
		}
		fe_close(&fe);
	}
	return NULL;
}

/* 200 ports on one path, stopped and started and closed under a flood. */
static void
test_rc07(void)
{
	struct fx_opts opts = { 0 };
	struct flood flood = { .stop = false };
	pthread_t thread;

	for (unsigned int i = 0; i < 200; i++) {
		CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &opts), 0);
		if (i == 0) {
			strlcpy(flood.path, fx.port.path, sizeof(flood.path));
			opts.path = flood.path;
			CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_flood, &flood), 0);
		}
		usleep(i % 4 * 1000);
		fx_drain();
		CU_ASSERT_EQUAL(rte_eth_dev_stop(fx.port.id), 0);
		CU_ASSERT_EQUAL(rte_eth_dev_start(fx.port.id), 0);
		fx_port_close(&fx.port);
	}
	pvq_store(&flood.stop, true);
	pthread_join(thread, NULL);
	CU_ASSERT_TRUE(flood.served > 0);
}

/* Removed as it is: not stopped, a frontend connected, buffers on both rings. */
static void
test_remove_running(void)
{
	const uint32_t room = 2000;

	for (unsigned int i = 0; i < 20; i++) {
		fx_start(FE_PLAIN, 64);
		CU_ASSERT_TRUE(fx_good());
		fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
		fe_post(&fx.fe, FE_RXQ, &room, 1, false);
		CU_ASSERT_EQUAL(rte_eal_hotplug_remove("vdev", fx.port.name), 0);
		CU_ASSERT_TRUE(access(fx.port.path, F_OK) < 0);
		CU_ASSERT_TRUE(peer_is_closed(&fx.fe.peer));
		fx.port.open = false;
		fe_close(&fx.fe);
	}
}

/* LC03: the third of four queues cannot be set up. */
static void
test_lc03(void)
{
	struct rte_mempool *tiny = rte_pktmbuf_pool_create("lc03", 8, 0, 0, RTE_PKTMBUF_HEADROOM,
			SOCKET_ID_ANY);
	struct fx_port port;
	char args[128];

	CU_ASSERT_PTR_NOT_NULL_FATAL(tiny);
	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ .pairs = 4 }), 0);
	port = fx.port;
	CU_ASSERT_EQUAL(rte_eth_dev_stop(port.id), 0);
	CU_ASSERT_EQUAL(rte_eth_rx_queue_setup(port.id, 0, 64, 0, NULL, fx.pool), 0);
	CU_ASSERT_EQUAL(rte_eth_rx_queue_setup(port.id, 2, 64, 0, NULL, tiny), -EINVAL);
	CU_ASSERT_EQUAL(rte_eth_dev_start(port.id), 0);
	fx_port_close(&fx.port);
	snprintf(args, sizeof(args), "iface=%s.d/s,queues=4", port.path);
	CU_ASSERT_TRUE(rte_eal_hotplug_add("vdev", port.name, args) < 0);
	CU_ASSERT_TRUE(rte_eal_hotplug_add("vdev", port.name, "iface=,queues=4") < 0);
	rte_mempool_free(tiny);
}

/* A path in use is an error, a stale socket is not. */
static void
test_paths(void)
{
	struct fx_port second = { .open = false };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char path[sizeof(fx.port.path)];
	int fd;

	fx_start(FE_PLAIN, 16);
	strlcpy(path, fx.port.path, sizeof(path));
	CU_ASSERT_TRUE(fx_port_open(&second, &(struct fx_opts){ .path = path }) < 0);
	CU_ASSERT_TRUE(fx_good());
	fe_close(&fx.fe);
	fx_port_close(&fx.port);

	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CU_ASSERT_TRUE(fx_port_open(&second, &(struct fx_opts){ .path = path }) < 0);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	close(fd);
	unlink(path);

	/* One that a killed process left. */
	strlcpy(name.sun_path, path, sizeof(name.sun_path));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
	fx_start_with(&(struct fx_opts){ .path = path }, FE_PLAIN, 16, 0);
}

/* Fewer queues, then all again, with the same frontend connected throughout. */
static void
test_reconfigure(void)
{
	const struct rte_eth_conf conf = { .rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER };

	fx_start_with(&(struct fx_opts){ .pairs = 3 }, FE_PLAIN, 64, 0);
	for (unsigned int i = 2; i < 6; i++)
		CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, i, 64, 0), 0);
	for (uint16_t pairs = 1; pairs <= 3; pairs++) {
		CU_ASSERT_EQUAL(rte_eth_dev_stop(fx.port.id), 0);
		CU_ASSERT_EQUAL(rte_eth_dev_configure(fx.port.id, pairs, pairs, &conf), 0);
		for (uint16_t i = 0; i < pairs; i++) {
			CU_ASSERT_EQUAL(rte_eth_rx_queue_setup(fx.port.id, i, 0, 0, NULL, fx.pool),
					0);
			CU_ASSERT_EQUAL(rte_eth_tx_queue_setup(fx.port.id, i, 0, 0, NULL), 0);
		}
		CU_ASSERT_EQUAL(rte_eth_dev_start(fx.port.id), 0);
		CU_ASSERT_TRUE(fx_good());
		for (uint16_t i = 1; i < pairs; i++) {
			struct rte_mbuf *m = NULL;

			fe_send(&fx.fe, 2 * i + 1, pkt, 60, NULL, 0, false);
			CU_ASSERT_EQUAL(rte_eth_rx_burst(fx.port.id, i, &m, 1), 1);
			rte_pktmbuf_free(m);
			CU_ASSERT_EQUAL(fe_reap(&fx.fe, 2 * i + 1), 1);
		}
	}
}

static bool
mtu_is(void *arg)
{
	uint16_t mtu = 0;

	return rte_eth_dev_get_mtu(fx.port.id, &mtu) == 0 && mtu == *(uint16_t *)arg;
}

static void
test_mtu(void)
{
	static const uint64_t bad[] = { 0, 67, 65536, UINT64_MAX };
	uint16_t mtu = 0, told = 9000;

	fx_start(FE_PLAIN, 16);
	CU_ASSERT_EQUAL(rte_eth_dev_get_mtu(fx.port.id, &mtu), 0);
	CU_ASSERT_EQUAL(mtu, 1500);
	CU_ASSERT_EQUAL(peer_ask_u64(&fx.fe.peer, PVU_NET_SET_MTU, 9000), 0);
	CU_ASSERT_TRUE(fx_wait(mtu_is, &told));
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		CU_ASSERT_NOT_EQUAL(peer_ask_u64(&fx.fe.peer, PVU_NET_SET_MTU, bad[i]), 0);
	CU_ASSERT_EQUAL(rte_eth_dev_get_mtu(fx.port.id, &mtu), 0);
	CU_ASSERT_EQUAL(mtu, 9000);
	/* What the application sets afterwards stays, whatever else changes. */
	CU_ASSERT_EQUAL(rte_eth_dev_set_mtu(fx.port.id, 2000), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, FE_RXQ, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, FE_RXQ, 1), 0);
	usleep(20000);
	CU_ASSERT_EQUAL(rte_eth_dev_get_mtu(fx.port.id, &mtu), 0);
	CU_ASSERT_EQUAL(mtu, 2000);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "stop and start", test_stop_start },
		{ "started after the frontend came", test_start_late },
		{ "RC07: 200 ports under a flood", test_rc07 },
		{ "removed while running", test_remove_running },
		{ "LC03: failure half way", test_lc03 },
		{ "socket paths", test_paths },
		{ "other numbers of queues", test_reconfigure },
		{ "MTU", test_mtu },
		CU_TEST_INFO_NULL,
	};

	return fx_run("lifecycle", tests);
}
