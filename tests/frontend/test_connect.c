/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Frontends that come and go, and what the application learns of them. */

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

#include "fixture.h"

static uint8_t pkt[FX_MAX_PKT];

static void
test_rc03(void)
{
	struct rte_mbuf *pkts[5];

	/* The device was at 5 when it lost a driver that was at 9: 5 to 8 are served. */
	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < 9; i++) {
		fe_fill(pkt, 60 + i, i);
		fe_send(&fx.fe, FE_TXQ, pkt, 60 + i, NULL, 0, false);
	}
	CU_ASSERT_EQUAL_FATAL(fx_rx(pkts, 5), 5);
	rte_pktmbuf_free_bulk(pkts, 5);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 5);
	CU_ASSERT_EQUAL_FATAL(fe_rejoin(&fx.fe, fx.port.path), 0);
	CU_ASSERT_EQUAL_FATAL(fx_rx(pkts, 5), 4);
	for (unsigned int i = 0; i < 4; i++) {
		fe_fill(pkt, 65 + i, 5 + i);
		CU_ASSERT_TRUE(fx_is_packet(&fx.port, pkts[i], pkt, 65 + i));
	}
	rte_pktmbuf_free_bulk(pkts, 4);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 4);
	CU_ASSERT_TRUE(fx_good());

	/* The driver starts anew, the device was elsewhere. */
	fe_ring_base(&fx.fe, FE_TXQ);
	CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_TXQ, 16, 0), 0);
	CU_ASSERT_TRUE(fx_good());
}

/* A second frontend is turned away, and the first does not notice; whichever closes first. */
static void
test_rc09(void)
{
	struct peer second = { .fd = -1 };

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL(peer_connect(&second, fx.port.path), 0);
		CU_ASSERT_TRUE(peer_is_closed(&second));
		CU_ASSERT_TRUE(fx_good());
		if (i % 2 == 0) {
			peer_close(&second);
			CU_ASSERT_TRUE(fx_good());
		}
		fx_restart(FE_PLAIN, 16, 0);
		peer_close(&second);
		CU_ASSERT_TRUE(fx_good());
	}
}

/* A frontend that leaves, half of them after a flood, and its successor that comes at once: served,
 * not taken for a second one.
 */
static void
test_quick_successor(void)
{
	unsigned int served = 0;
	uint64_t features;

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < 50; i++) {
		for (unsigned int n = 0; n < i % 2 * 100; n++)
			peer_send(&fx.fe.peer, PVU_SET_OWNER, 0, NULL, 0, NULL, 0);
		peer_close(&fx.fe.peer);
		CU_ASSERT_EQUAL_FATAL(peer_connect(&fx.fe.peer, fx.port.path), 0);
		served += peer_get_u64(&fx.fe.peer, PVU_GET_FEATURES, &features) == 0;
	}
	CU_ASSERT_EQUAL(served, 50);
	fx_restart(FE_PLAIN, 16, 0);
}

static void
test_fd05(void)
{
	unsigned int fds;

	fx_start(FE_PLAIN, 16);
	fds = peer_count_fds();
	for (unsigned int i = 0; i < 500; i++) {
		fx_restart(FE_PLAIN, 16, 0);
		if (i % 50 == 0)
			CU_ASSERT_TRUE(fx_good());
		CU_ASSERT_EQUAL(peer_count_fds(), fds);
	}
}

/* With STATUS nothing is served, and nobody called, before DRIVER_OK and after a reset. */
static void
test_status(void)
{
	uint64_t features = FE_PLAIN | PVU_F_PROTOCOL_FEATURES, status = 0xff;
	struct peer *peer = &fx.fe.peer;

	fx_start(FE_PLAIN, 16);
	for (unsigned int i = 0; i < 3; i++) {
		fx_restart(FE_PLAIN, 16, 0);
		CU_ASSERT_TRUE(fx_good());
		CU_ASSERT_EQUAL(peer_negotiate(peer, FE_PLAIN, PVU_PROTO_STATUS |
				PVU_PROTO_RESET_DEVICE), 0);
		fx_offer(FE_TXQ, 1);
		fx_post(FE_RXQ, 1, 200);
		CU_ASSERT_EQUAL(fx_drain(), 0);
		CU_ASSERT_EQUAL(fx_burst(0, 1), 0);
		CU_ASSERT_EQUAL(peer_ask_u64(peer, PVU_SET_STATUS, 0x0b), 0);
		CU_ASSERT_EQUAL(fx_drain(), 0);
		fe_calls(&fx.fe.ring[FE_TXQ]);
		CU_ASSERT_EQUAL(peer_ask_u64(peer, PVU_SET_STATUS, 0x0f), 0);
		CU_ASSERT_EQUAL(fx_drain(), 1);
		CU_ASSERT_EQUAL(fx_burst(0, 1), 1);
		CU_ASSERT_EQUAL(fe_calls(&fx.fe.ring[FE_TXQ]), 1);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ) + fx_collect(FE_RXQ), 2);
		CU_ASSERT_EQUAL(i == 0 ? peer_ask_u64(peer, PVU_SET_STATUS, 0) :
				peer_ask(peer, PVU_RESET_DEVICE, NULL, 0, NULL, 0), 0);
		fx_offer(FE_TXQ, 1);
		CU_ASSERT_EQUAL(fx_drain(), 0);
		CU_ASSERT_EQUAL(peer_get_u64(peer, PVU_GET_STATUS, &status), 0);
		CU_ASSERT_EQUAL(status, 0);
		/* The next driver, on the same connection, from the beginning. */
		CU_ASSERT_EQUAL(peer_ask_u64(peer, PVU_SET_FEATURES, features), 0);
		CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_RXQ, 32, 0), 0);
		CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_TXQ, 32, 0), 0);
		CU_ASSERT_EQUAL(peer_ask_u64(peer, PVU_SET_STATUS, 0x0f), 0);
		CU_ASSERT_TRUE(fx_good());
	}
}

static unsigned int events;

static int
on_event(uint16_t port_id, enum rte_eth_event_type type, void *arg, void *ret)
{
	(void)arg;
	(void)ret;
	if (port_id == fx.port.id && type == RTE_ETH_EVENT_INTR_LSC)
		pvq_store(&events, events + 1);
	return 0;
}

/* Link state and number of events as they are to become. */
struct link {
	bool up;
	unsigned int events;
};

static bool
link_is(void *arg)
{
	const struct link *want = arg;

	return fx_link_up(&fx.port) == want->up && pvq_load(&events) == want->events;
}

static void
check_link(bool up, unsigned int n)
{
	CU_ASSERT_TRUE(fx_wait(link_is, &(struct link){ up, n }));
}

/* The link is up while a ring runs; one event for each change. */
static void
test_link(void)
{
	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ .lsc = true }), 0);
	events = 0;
	rte_eth_dev_callback_register(fx.port.id, RTE_ETH_EVENT_INTR_LSC, on_event, NULL);
	check_link(false, 0);
	CU_ASSERT_EQUAL_FATAL(fe_open(&fx.fe, fx.port.path, FE_PLAIN), 0);
	check_link(false, 0);
	fe_ring_up(&fx.fe, FE_RXQ, 64, 0);
	check_link(true, 1);
	fe_ring_up(&fx.fe, FE_TXQ, 64, 0);
	check_link(true, 1);
	for (unsigned int i = 0; i < 10; i++) {
		fe_ring_resume(&fx.fe, i % 2);
		peer_share(&fx.fe.peer, FE_MEM_SIZE);
	}
	usleep(20000);
	check_link(true, 1);
	for (unsigned int i = 0; i < 2; i++)
		peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, i, 0);
	check_link(false, 2);
	for (unsigned int i = 0; i < 2; i++)
		peer_ask_state(&fx.fe.peer, PVU_SET_VRING_ENABLE, i, 1);
	check_link(true, 3);
	fe_close(&fx.fe);
	check_link(false, 4);
	CU_ASSERT_EQUAL_FATAL(fe_open(&fx.fe, fx.port.path, FE_PLAIN), 0);
	fe_ring_up(&fx.fe, FE_RXQ, 64, 0);
	fe_ring_up(&fx.fe, FE_TXQ, 64, 0);
	check_link(true, 5);
	rte_eth_dev_callback_unregister(fx.port.id, RTE_ETH_EVENT_INTR_LSC, on_event, NULL);
}

static int
listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = 5 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strlcpy(addr.sun_path, path, sizeof(addr.sun_path));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CU_ASSERT_EQUAL(listen(fd, 1), 0);
	return fd;
}

/* The port connects to a frontend that listens, again and again: RC11. */
static void
test_client(void)
{
	int fd;

	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ .client = true }), 0);
	usleep(50000);
	fd = listen_at(fx.port.path);
	for (unsigned int i = 0; i < 4; i++) {
		fx.fe = (struct fe){ .peer.fd = accept(fd, NULL, NULL) };
		CU_ASSERT_TRUE_FATAL(fx.fe.peer.fd >= 0);
		if (i > 1) {
			CU_ASSERT_EQUAL(fe_greet(&fx.fe, FE_PLAIN), 0);
			CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_RXQ, 64, 0), 0);
			CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_TXQ, 64, 0), 0);
			CU_ASSERT_TRUE(fx_good());
		}
		fe_close(&fx.fe);
	}
	close(fd);
	/* The file is the frontend's: the port leaves it. */
	CU_ASSERT_EQUAL(unlink(fx.port.path), 0);
	fx_port_close(&fx.port);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "RC03: where a ring starts", test_rc03 },
		{ "RC09: second frontend", test_rc09 },
		{ "successor at once", test_quick_successor },
		{ "FD05: 500 frontends", test_fd05 },
		{ "STATUS: before DRIVER_OK, after a reset", test_status },
		{ "link and its events", test_link },
		{ "RC11: client mode", test_client },
		CU_TEST_INFO_NULL,
	};

	return fx_run("connect", tests);
}
