/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Sockets: their files, who may connect, connecting again. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "pvu_owner.h"

#define MEM 0x10000

static struct owner o;
static struct peer p = { .fd = -1, .pump = owner_pump, .arg = &o };

static bool
answers(struct peer *peer)
{
	uint64_t features = 0;

	return peer_get_u64(peer, PVU_GET_FEATURES, &features) == 0;
}

/* Creation must fail with @p err and one line. */
static void
refused(const char *path, int err)
{
	unsigned int before = peer_count_fds();

	CU_ASSERT_EQUAL(owner_listen(&o, path, false), err);
	CU_ASSERT_PTR_NULL(o.dev);
	CU_ASSERT_EQUAL(o.lines, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.line, path));
	owner_close(&o);
	CU_ASSERT_EQUAL(peer_count_fds(), before);
}

static int
bound_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void
paths(void)
{
	const char *path = test_path("sock");
	char path_too_long[109];
	struct stat st;
	int fd;

	memset(path_too_long, 'x', sizeof(path_too_long) - 1);
	path_too_long[0] = '/';
	path_too_long[108] = '\0';
	refused(path_too_long, -ENAMETOOLONG);
	refused("", -EINVAL);
	refused("/nonexistent/sock", -ENOENT);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	refused(path, -EEXIST);
	close(fd);
	unlink(path);
	/* In use: untouched. Left behind: replaced. */
	fd = bound_socket(path);
	CU_ASSERT_EQUAL(listen(fd, 1), 0);
	refused(path, -EADDRINUSE);
	CU_ASSERT_EQUAL(lstat(path, &st), 0);
	close(fd);
	CU_ASSERT_EQUAL(owner_listen(&o, path, false), 0);
	CU_ASSERT_EQUAL(peer_connect(&p, path), 0);
	CU_ASSERT_TRUE(answers(&p));
	peer_close(&p);
	owner_close(&o);
	CU_ASSERT_EQUAL(lstat(path, &st), -1);
	/* Not our file any more: it stays. */
	CU_ASSERT_EQUAL(owner_listen(&o, path, false), 0);
	unlink(path);
	fd = bound_socket(path);
	owner_close(&o);
	CU_ASSERT_EQUAL(lstat(path, &st), 0);
	close(fd);
	unlink(path);
}

static void
parameters(void)
{
	struct pvu_params good, bad;

	memset(&o, 0, sizeof(o));
	o.loop = pvu_loop_create();
	good = (struct pvu_params){
		.path = test_path("sock"), .nrings = 2, .ops = &owner_ops, .owner = &o
	};
	bad = good;
	bad.nrings = 0;
	CU_ASSERT_EQUAL(pvu_dev_create(o.loop, &bad, &o.dev), -EINVAL);
	bad.nrings = PVU_MAX_RINGS + 1;
	CU_ASSERT_EQUAL(pvu_dev_create(o.loop, &bad, &o.dev), -EINVAL);
	bad = good;
	bad.config = &good;
	bad.config_len = 257;
	CU_ASSERT_EQUAL(pvu_dev_create(o.loop, &bad, &o.dev), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.line, "configuration space of 257 bytes"));
	CU_ASSERT_EQUAL(pvu_dev_create_fd(o.loop, &good, -1, &o.dev), -EBADF);
	good.nrings = PVU_MAX_RINGS;
	CU_ASSERT_EQUAL(pvu_dev_create(o.loop, &good, &o.dev), 0);
	owner_close(&o);
}

static void
rc09_second_client(void)
{
	struct peer second = p;
	unsigned int before = peer_count_fds();

	CU_ASSERT_EQUAL(owner_listen(&o, test_path("sock"), false), 0);
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	CU_ASSERT_EQUAL(peer_connect(&second, test_path("sock")), 0);
	CU_ASSERT_TRUE(peer_is_closed(&second));
	CU_ASSERT_TRUE(answers(&p));
	peer_close(&second);
	CU_ASSERT_TRUE(answers(&p));
	/* The other order: the first goes while the second still holds on to its end. */
	CU_ASSERT_EQUAL(peer_connect(&second, test_path("sock")), 0);
	peer_close(&p);
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	CU_ASSERT_TRUE(answers(&p));
	peer_close(&second);
	CU_ASSERT_TRUE(answers(&p));
	CU_ASSERT_EQUAL(o.info.connections, 2);
	peer_close(&p);
	owner_close(&o);
	CU_ASSERT_EQUAL(peer_count_fds(), before);
}

/* A frontend has gone, and the next one is there before anybody has noticed. */
static void
next_in_line(void)
{
	int first;

	CU_ASSERT_EQUAL(owner_listen(&o, test_path("sock"), false), 0);
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	CU_ASSERT_TRUE(answers(&p));
	first = p.fd;
	p.pump = NULL;
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	close(first);
	p.pump = owner_pump;
	CU_ASSERT_TRUE(answers(&p));
	CU_ASSERT_EQUAL(o.info.connections, 2);
	peer_close(&p);
	owner_close(&o);
}

/* FD05, FD03: connect, get as far as @p stage, go away, again and again. */
static void
fd05_reconnect(void)
{
	struct peer_ring ring;
	unsigned int round, before;
	struct stat was, is;

	fstat(0, &was);
	CU_ASSERT_EQUAL(owner_listen(&o, test_path("sock"), false), 0);
	before = peer_count_fds();
	for (round = 0; round < 500; round++) {
		CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
		if (round % 4 > 0)
			CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
		if (round % 4 > 1)
			CU_ASSERT_EQUAL(peer_share(&p, MEM), 0);
		if (round % 4 > 2) {
			peer_ring_place(&ring, round % NR_RINGS, 64, true, 0x1000);
			ring.base = 0;
			CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
			CU_ASSERT_TRUE(o.rings[round % NR_RINGS].running);
			CU_ASSERT_EQUAL(o.rings[round % NR_RINGS].ring.base, 0);
			peer_ring_free(&ring);
		}
		peer_close(&p);
		CU_ASSERT_FALSE(o.info.connected);
		CU_ASSERT_EQUAL(o.info.features, 0);
		CU_ASSERT_EQUAL(o.nregions, 0);
		peer_mem_free(&p.mem);
		CU_ASSERT_EQUAL(peer_count_fds(), before);
	}
	CU_ASSERT_EQUAL(o.info.connections, 500);
	owner_close(&o);
	CU_ASSERT_EQUAL(fstat(0, &is), 0);
	CU_ASSERT_EQUAL(was.st_ino, is.st_ino);
}

/* Out of descriptors: no busy loop, and service as soon as there are some again. */
static void
no_descriptors_left(void)
{
	struct rlimit limit, low;
	int served = 0, i;

	getrlimit(RLIMIT_NOFILE, &limit);
	CU_ASSERT_EQUAL(owner_listen(&o, test_path("sock"), false), 0);
	p.pump = NULL;
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	low = limit;
	low.rlim_cur = (rlim_t)p.fd + 1;
	setrlimit(RLIMIT_NOFILE, &low);
	for (i = 0; i < 50; i++)
		served += pvu_loop_poll(o.loop, 2);
	CU_ASSERT_TRUE(served <= 3);
	CU_ASSERT_FALSE(o.info.connected);
	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < 30 && !o.info.connected; i++)
		pvu_loop_poll(o.loop, 100);
	p.pump = owner_pump;
	CU_ASSERT_TRUE(answers(&p));
	peer_close(&p);
	owner_close(&o);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "paths", paths },
		{ "parameters", parameters },
		{ "RC09 second client", rc09_second_client },
		{ "next in line", next_in_line },
		{ "FD05 FD03 reconnect 500 times", fd05_reconnect },
		{ "no descriptors left", no_descriptors_left },
	};

	return run_tests("pvu sockets", cases, ARRAY_LEN(cases));
}
