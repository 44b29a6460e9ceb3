/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The loop in a thread of its own, against frontends in others; and the client mode. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "pvu_owner.h"

static struct owner o;
static pthread_t loop_thread;

static void *
run(void *loop)
{
	return (void *)(intptr_t)pvu_loop_run(loop);
}

static void
join(void)
{
	void *rc;

	pvu_loop_stop(o.loop);
	pthread_join(loop_thread, &rc);
	CU_ASSERT_PTR_NULL(rc);
}

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
run_and_stop(void)
{
	unsigned int i;

	memset(&o, 0, sizeof(o));
	for (i = 0; i < 50; i++) {
		o.loop = pvu_loop_create();
		if (i & 1) /* before it runs */
			pvu_loop_stop(o.loop);
		pthread_create(&loop_thread, NULL, run, o.loop);
		join();
		pvu_loop_destroy(o.loop);
	}
}

static atomic_bool enough;
static atomic_uint answered;

/* Connects again and again, sends as fast as it can, and reads what comes. */
static void *
flood(void *path)
{
	struct peer p = { .fd = -1 };
	struct pvu_hdr hdr[64];
	char answers[4096];
	unsigned int i;
	ssize_t n;

	for (i = 0; i < 64; i++)
		hdr[i] = (struct pvu_hdr){ PVU_GET_FEATURES, PVU_VERSION, 0 };
	while (!atomic_load(&enough)) {
		if (peer_connect(&p, path) < 0)
			continue;
		for (i = 0; i < 1000 && !atomic_load(&enough); i++) {
			if (peer_send_bytes(&p, hdr, sizeof(hdr), NULL, 0) < 0)
				break;
			n = recv(p.fd, answers, sizeof(answers), MSG_DONTWAIT);
			if (n > 0)
				atomic_fetch_add(&answered, (unsigned int)n / 20);
		}
		peer_close(&p);
	}
	return NULL;
}

/* RC07: a port is closed and made again while frontends flood it. */
static void
rc07_close_under_flood(void)
{
	struct pvu_params params = {
		.path = test_path("flood"), .nrings = 2, .ops = &owner_ops, .owner = &o
	};
	unsigned int i, before = peer_count_fds();
	pthread_t floods[2];
	double begin, worst = 0;

	memset(&o, 0, sizeof(o));
	o.loop = pvu_loop_create();
	pthread_create(&loop_thread, NULL, run, o.loop);
	atomic_store(&enough, false);
	for (i = 0; i < 2; i++)
		pthread_create(&floods[i], NULL, flood, (void *)(uintptr_t)params.path);
	for (i = 0; i < 200; i++) {
		if (pvu_dev_create(o.loop, &params, &o.dev) < 0) {
			CU_FAIL("cannot create the device again");
			break;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		begin = now();
		pvu_dev_destroy(o.dev);
		worst = now() - begin > worst ? now() - begin : worst;
	}
	atomic_store(&enough, true);
	for (i = 0; i < 2; i++)
		pthread_join(floods[i], NULL);
	CU_ASSERT_TRUE(worst < 1.0);
	CU_ASSERT_TRUE(atomic_load(&answered) > 0);
	join();
	pvu_loop_destroy(o.loop);
	CU_ASSERT_EQUAL(peer_count_fds(), before);
}

/* A snapshot is whole, from any thread, while the device changes. */
static void *
look(void *arg)
{
	struct owner *owner = arg;
	struct pvu_info info;
	unsigned int torn = 0;

	while (!atomic_load(&enough)) {
		pvu_dev_info(owner->dev, &info);
		torn += info.connected ? info.connections == 0 : info.features != 0;
	}
	return (void *)(uintptr_t)torn;
}

static void
snapshots(void)
{
	struct pvu_params params = { .path = test_path("look"),
		.nrings = 2,
		.ops = &owner_ops,
		.owner = &o,
		.features = ALL_FEATURES };
	struct peer p = { .fd = -1 };
	pthread_t looking;
	unsigned int i;
	void *torn;

	memset(&o, 0, sizeof(o));
	o.loop = pvu_loop_create();
	CU_ASSERT_EQUAL(pvu_dev_create(o.loop, &params, &o.dev), 0);
	pthread_create(&loop_thread, NULL, run, o.loop);
	atomic_store(&enough, false);
	pthread_create(&looking, NULL, look, &o);
	for (i = 0; i < 32; i++) {
		CU_ASSERT_EQUAL(peer_connect(&p, params.path), 0);
		CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
		CU_ASSERT_EQUAL(peer_share(&p, 0x10000), 0);
		peer_close(&p);
	}
	atomic_store(&enough, true);
	pthread_join(looking, &torn);
	CU_ASSERT_PTR_NULL(torn);
	pvu_dev_destroy(o.dev);
	join();
	pvu_loop_destroy(o.loop);
	peer_mem_free(&p.mem);
}

static int
server_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CU_ASSERT_EQUAL(listen(fd, 1), 0);
	return fd;
}

/* RC11: a server that closes at once five times, then behaves. */
static void
rc11_client(void)
{
	const char *path = test_path("server");
	struct peer p = { .fd = -1 };
	unsigned int i, lines;
	uint64_t features;
	int server;

	CU_ASSERT_EQUAL(owner_listen(&o, path, true), 0);
	pthread_create(&loop_thread, NULL, run, o.loop);
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	CU_ASSERT_EQUAL(o.lines, 1); /* waiting, said once */
	server = server_socket(path);
	for (i = 0; i < 5; i++)
		close(accept(server, NULL, NULL));
	p.fd = accept(server, NULL, NULL);
	CU_ASSERT_EQUAL(peer_get_u64(&p, PVU_GET_FEATURES, &features), 0);
	close(server);
	unlink(path);
	peer_close(&p);
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 500000000 }, NULL);
	lines = o.lines;
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 200000000 }, NULL);
	CU_ASSERT_EQUAL(o.lines, lines);
	join();
	owner_close(&o);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "run and stop", run_and_stop },
		{ "RC07 close under a flood", rc07_close_under_flood },
		{ "snapshots", snapshots },
		{ "RC11 client", rc11_client },
	};

	return run_tests("pvu threads", cases, ARRAY_LEN(cases));
}
