/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A frontend that cuts its memory short while the port works on it. This process is both sides:
 * from then on nothing here may touch the frontend's own mapping.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bystander.h"

static uint8_t pkt[FX_MAX_PKT];

/* A thread of bursts: what it sends goes nowhere in the end, what it receives is freed. */
struct bursts {
	pthread_t thread;
	bool stop;
	uint64_t rounds;
};

static void *
run_bursts(void *arg)
{
	struct bursts *b = arg;

	while (!pvq_load_acquire(&b->stop)) {
		struct rte_mbuf *pkts[8];
		uint16_t sent;

		fx_drain();
		for (unsigned int i = 0; i < RTE_DIM(pkts); i++)
			pkts[i] = fx_mbuf(pkt, i % 2 ? 60 : 3000, NULL, 0);
		sent = fx_tx(pkts, RTE_DIM(pkts));
		rte_pktmbuf_free_bulk(pkts + sent, RTE_DIM(pkts) - sent);
		pvq_store(&b->rounds, b->rounds + 1);
		sched_yield();
	}
	return NULL;
}

static void
bursts_start(struct bursts *b)
{
	*b = (struct bursts){ .stop = false };
	CU_ASSERT_EQUAL_FATAL(pthread_create(&b->thread, NULL, run_bursts, b), 0);
}

static bool
bursts_go_on(struct bursts *b)
{
	uint64_t was = pvq_load(&b->rounds), give_up = fx_now_ms() + 5000;

	while (pvq_load(&b->rounds) < was + 10 && fx_now_ms() < give_up)
		usleep(1000);
	return pvq_load(&b->rounds) >= was + 10;
}

static void
bursts_stop(struct bursts *b)
{
	pvq_store_release(&b->stop, true);
	pthread_join(b->thread, NULL);
}

static bool
is_down(void *arg)
{
	(void)arg;
	return !fx_link_up(&fx.port);
}

/* Work for the bursts: buffers on both rings, spread over the memory. */
static void
stock(void)
{
	const uint32_t lens[2] = { 2000, 2000 };

	for (unsigned int i = 0; i < 60; i++) {
		fe_fill(pkt, 1500, i);
		fe_send(&fx.fe, FE_TXQ, pkt, 1500, NULL, 0, i % 2);
		fe_post(&fx.fe, FE_RXQ, lens, 2, i % 2);
		fx.fe.heap += 65536;
	}
}

/* Cut the file to @p size. The port goes on without its frontend, is told why, and serves another.
 */
static void
cut(off_t size, bool while_bursting)
{
	struct bursts bursts;

	fx_start(FE_PLAIN | FE_MRG, 256);
	bystander_start();
	stock();
	if (while_bursting)
		bursts_start(&bursts);
	CU_ASSERT_EQUAL(ftruncate(fx.fe.peer.mem.fd, size), 0);
	if (!while_bursting)
		bursts_start(&bursts);
	CU_ASSERT_TRUE(peer_is_closed(&fx.fe.peer));
	CU_ASSERT_TRUE(fx_wait(is_down, NULL));
	CU_ASSERT_TRUE(bursts_go_on(&bursts));
	CU_ASSERT_TRUE(bystander_lives());
	bursts_stop(&bursts);
	fx_restart(FE_PLAIN, 64, 0);
	CU_ASSERT_TRUE(fx_good());
	bystander_stop();
}

static void
test_all(void)
{
	cut(0, false);
}

static void
test_all_meanwhile(void)
{
	for (unsigned int i = 0; i < 5; i++) {
		cut(0, true);
		fe_close(&fx.fe);
		fx_port_close(&fx.port);
	}
}

/* The rings stay, the buffers go. */
static void
test_buffers(void)
{
	cut(FE_HEAP + 65536, false);
}

static void
test_rings(void)
{
	cut(FE_RING_BYTES, false);
}

/* Cut before the rings start: it is the control thread that meets it. */
static void
test_before_start(void)
{
	struct peer_ring wire;

	CU_ASSERT_EQUAL_FATAL(fx_port_open(&fx.port, &(struct fx_opts){ 0 }), 0);
	bystander_start();
	CU_ASSERT_EQUAL_FATAL(fe_open(&fx.fe, fx.port.path, FE_PLAIN), 0);
	CU_ASSERT_EQUAL(ftruncate(fx.fe.peer.mem.fd, 0), 0);
	peer_ring_place(&wire, FE_TXQ, 256, true, FE_RING_BYTES);
	peer_ring_start(&fx.fe.peer, &wire);
	peer_ring_free(&wire);
	CU_ASSERT_TRUE(peer_is_closed(&fx.fe.peer));
	fx_drain();
	CU_ASSERT_TRUE(bystander_lives());
	fx_restart(FE_PLAIN, 64, 0);
	CU_ASSERT_TRUE(fx_good());
	bystander_stop();
}

static void
on_bus(int sig)
{
	(void)sig;
	_exit(42);
}

/* A SIGBUS that is none of a frontend's is left to whoever had the handler before. */
static void
test_foreign_sigbus(void)
{
	struct sigaction mine = { .sa_handler = on_bus }, old;
	int status = 0, fd;
	pid_t child;

	sigaction(SIGBUS, &mine, &old);
	fx_start(FE_PLAIN, 64);
	fd = memfd_create("foreign", 0);
	child = fork();
	if (child == 0) {
		volatile uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		_exit(p[0]);
	}
	CU_ASSERT_TRUE(child > 0 && waitpid(child, &status, 0) == child);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	close(fd);
	CU_ASSERT_TRUE(fx_good());
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	sigaction(SIGBUS, NULL, &mine);
	CU_ASSERT_PTR_EQUAL(mine.sa_handler, on_bus);
	sigaction(SIGBUS, &old, NULL);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "cut to nothing", test_all },
		{ "cut to nothing in mid-burst", test_all_meanwhile },
		{ "rings stay, buffers go", test_buffers },
		{ "one ring goes", test_rings },
		{ "cut before the rings start", test_before_start },
		{ "SIGBUS of somebody else", test_foreign_sigbus },
		CU_TEST_INFO_NULL,
	};

	return fx_run("truncate", tests);
}
