/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A frontend that tries to make the process wait: for its socket, for its event descriptors. */

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bystander.h"

static uint8_t pkt[FX_MAX_PKT];

static struct peer *
peer(void)
{
	return &fx.fe.peer;
}

static void
begin(void)
{
	fx_start(FE_PLAIN, 64);
	bystander_start();
}

/* After what was done, a fresh frontend is served, and the other port, too. */
static void
end(void)
{
	fx_restart(FE_PLAIN, 64, 0);
	CU_ASSERT_TRUE(fx_good());
	bystander_stop();
}

static void
test_reads_nothing(void)
{
	const struct timeval second = { .tv_sec = 1 };
	unsigned int sent = 0;

	begin();
	setsockopt(peer()->fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	while (sent < 200000 && peer_send(peer(), PVU_GET_FEATURES, 0, NULL, 0, NULL, 0) == 0)
		sent++;
	CU_ASSERT_TRUE(sent < 200000);
	CU_ASSERT_TRUE(bystander_lives());
	end();
}

/* Parts of a message, and then silence; the next frontend waits for no longer than this one stays.
 */
static void
test_half_a_message(void)
{
	static const struct pvu_hdr hdr = { PVU_SET_FEATURES, PVU_VERSION, 8 };

	begin();
	for (size_t len = 1; len < sizeof(hdr); len += 5) {
		CU_ASSERT_EQUAL(peer_send_bytes(peer(), &hdr, len, &peer()->mem.fd, 1), 0);
		CU_ASSERT_TRUE(bystander_lives());
		CU_ASSERT_TRUE(fx_good());
		fx_restart(FE_PLAIN, 64, 0);
	}
	CU_ASSERT_EQUAL(peer_send_bytes(peer(), &hdr, sizeof(hdr), NULL, 0), 0);
	CU_ASSERT_TRUE(bystander_lives());
	end();
}

/* Send @p n packets and receive as many, with whatever descriptor the rings call. */
static void
work(unsigned int n)
{
	const uint32_t room = 200;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m;

		fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
		fe_post(&fx.fe, FE_RXQ, &room, 1, false);
		CU_ASSERT_EQUAL(fx_rx(&m, 1), 1);
		CU_ASSERT_EQUAL(fx_tx(&m, 1), 1);
		CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
		CU_ASSERT_EQUAL(fe_receive(&fx.fe, FE_RXQ, pkt, sizeof(pkt)), 60);
	}
}

static void
call_with(int fd)
{
	CU_ASSERT_EQUAL(peer_ask_fd(peer(), PVU_SET_VRING_CALL, FE_RXQ, fd), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(peer(), PVU_SET_VRING_CALL, FE_TXQ, fd), 0);
}

static void
set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	CU_ASSERT_EQUAL(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), 0);
}

/* Fill a pipe; then a writer without O_NONBLOCK would wait. */
static void
fill(int fd)
{
	static const uint8_t zeroes[4096];

	set_nonblock(fd, true);
	while (write(fd, zeroes, sizeof(zeroes)) > 0)
		;
	while (write(fd, zeroes, 1) > 0)
		;
	set_nonblock(fd, false);
}

static void
test_full_pipe(void)
{
	int fds[2];

	begin();
	CU_ASSERT_EQUAL(pipe(fds), 0);
	fill(fds[1]);
	call_with(fds[1]);
	set_nonblock(fds[1], false);
	work(50);
	CU_ASSERT_TRUE(bystander_lives());
	close(fds[0]);
	work(50);
	close(fds[1]);
	work(50);
	end();
}

static void
test_pipe_nobody_reads(void)
{
	int fds[2];

	begin();
	CU_ASSERT_EQUAL(pipe(fds), 0);
	close(fds[0]);
	call_with(fds[1]);
	close(fds[1]);
	work(20000);
	end();
}

/* A descriptor that is no event: refused, or harmless. */
static void
test_foreign_call(void)
{
	int fds[6];

	begin();
	fds[0] = open("/dev/null", O_RDWR);
	fds[1] = open("/dev/zero", O_RDONLY);
	fds[2] = open("/", O_RDONLY);
	fds[3] = epoll_create1(0);
	fds[4] = dup(peer()->fd);
	fds[5] = dup(peer()->mem.fd);
	for (unsigned int i = 0; i < RTE_DIM(fds); i++) {
		int rc = peer_ask_fd(peer(), PVU_SET_VRING_CALL, FE_RXQ, fds[i]);

		CU_ASSERT_NOT_EQUAL(rc, PEER_SILENT);
		if (rc == PEER_CLOSED)
			fx_restart(FE_PLAIN, 64, 0);
		work(10);
		close(fds[i]);
	}
	end();
}

/* What a thread of its own does, because it may never come back. */
struct errand {
	pthread_t thread;
	bool done;
};

static void *
run_work(void *arg)
{
	work(10);
	pvq_store_release(&((struct errand *)arg)->done, true);
	return NULL;
}

static bool
is_done(void *arg)
{
	return pvq_load_acquire((bool *)arg);
}

/* A full eventfd whose O_NONBLOCK the frontend takes back: the open file is shared. */
static void
test_full_eventfd(void)
{
	struct errand errand = { .done = false };
	eventfd_t count;
	bool in_time, lives;
	int fd = eventfd(0, EFD_NONBLOCK);

	begin();
	call_with(fd);
	CU_ASSERT_EQUAL(eventfd_write(fd, UINT64_MAX - 1), 0);
	set_nonblock(fd, false);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&errand.thread, NULL, run_work, &errand), 0);
	in_time = fx_wait(is_done, &errand.done);
	lives = bystander_lives();
	/* Let it go, if it hangs. */
	set_nonblock(fd, true);
	while (!fx_wait(is_done, &errand.done))
		eventfd_read(fd, &count);
	eventfd_read(fd, &count);
	pthread_join(errand.thread, NULL);
	CU_ASSERT_TRUE(in_time);
	CU_ASSERT_TRUE(lives);
	close(fd);
	end();
}

/* The same for the descriptor that hears of errors, which the control thread writes. */
static void
test_full_err(void)
{
	int fd = eventfd(0, EFD_NONBLOCK), pipes[2];
	struct vhost_vring_addr addr;
	eventfd_t count;

	begin();
	CU_ASSERT_EQUAL(pipe(pipes), 0);
	fill(pipes[1]);
	for (unsigned int i = 0; i < 2; i++) {
		addr = peer_ring_addr(peer(), &fx.fe.ring[FE_TXQ].wire);
		CU_ASSERT_EQUAL(peer_ask_fd(peer(), PVU_SET_VRING_ERR, FE_TXQ,
				i == 0 ? pipes[1] : fd), 0);
		eventfd_write(fd, UINT64_MAX - 1);
		set_nonblock(fd, false);
		fe_ring_base(&fx.fe, FE_TXQ);
		/* Told without an answer wanted, wrong addresses are found at the start. */
		addr.desc_user_addr = 0x1000;
		peer_send(peer(), PVU_SET_VRING_ADDR, 0, &addr, sizeof(addr), NULL, 0);
		fe_ring_resume(&fx.fe, FE_TXQ);
		CU_ASSERT_TRUE(bystander_lives());
		set_nonblock(fd, true);
		eventfd_read(fd, &count);
		fx_restart(FE_PLAIN, 64, 0);
	}
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	end();
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "frontend that reads no replies", test_reads_nothing },
		{ "half a message", test_half_a_message },
		{ "call: a full pipe", test_full_pipe },
		{ "call: a pipe nobody reads", test_pipe_nobody_reads },
		{ "call: no event descriptor", test_foreign_call },
		{ "call: a full eventfd that blocks", test_full_eventfd },
		{ "err: full pipe and eventfd that block", test_full_err },
		CU_TEST_INFO_NULL,
	};

	return fx_run("block", tests);
}
