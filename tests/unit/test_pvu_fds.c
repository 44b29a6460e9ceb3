/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Descriptors that come with messages: kept, exchanged, or closed, and never one too many. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pvu_owner.h"

#define MEM 0x10000

static struct owner o;
static struct peer p;
static struct peer_ring ring;

static void
running(uint64_t features)
{
	owner_running(&o, &p, &ring, features, MEM);
}

static void
done(void)
{
	owner_stopped(&o, &p, &ring);
}

/* Every request number there is and some beyond, with eight descriptors, a thousand times. */
static void
fd01_thousand_rounds(void)
{
	unsigned int before, round, i;
	const uint8_t payload[64] = { 0 };
	uint32_t request;
	int fds[8];

	for (i = 0; i < 8; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK);
	before = peer_count_fds();
	for (request = 0; request < PVU_NR_REQUESTS + 3; request++)
		for (round = 0; round < 1000; round++) {
			owner_open(&o, &p);
			peer_send(&p, request, 0, payload, 8, fds, 8);
			peer_pump(&p);
			owner_done(&o, &p);
		}
	CU_ASSERT_EQUAL(peer_count_fds(), before);
	for (i = 0; i < 8; i++)
		close(fds[i]);
}

static void
xb08_new_descriptors(void)
{
	unsigned int before, i;
	int old, fd;

	running(F_PACKED);
	before = peer_count_fds();
	for (i = 0; i < 1000; i++) {
		old = o.rings[0].ring.call_fd;
		o.rings[0].base = (uint16_t)(i % 64);
		fd = eventfd(0, EFD_NONBLOCK);
		CU_ASSERT_EQUAL(peer_ask_fd(&p, i & 1 ? PVU_SET_VRING_KICK : PVU_SET_VRING_CALL, 0,
						fd),
				0);
		/* A new call descriptor is the newest, the old one is closed. */
		if (!(i & 1)) {
			CU_ASSERT_EQUAL(fcntl(old, F_GETFD), -1);
			CU_ASSERT_EQUAL(eventfd_write(o.rings[0].ring.call_fd, 1), 0);
			CU_ASSERT_EQUAL(eventfd_read(fd, &(eventfd_t){ 0 }), 0);
		}
		close(fd);
		CU_ASSERT_EQUAL(o.rings[0].ring.base, i % 64);
	}
	CU_ASSERT_EQUAL(o.rings[0].starts, 1001);
	CU_ASSERT_EQUAL(o.rings[0].stops, 1000);
	CU_ASSERT_EQUAL(peer_count_fds(), before);
	done();
}

static void
nt09_kick_before_enable(void)
{
	owner_ready(&o, &p, F_PACKED, MEM);
	peer_ring_place(&ring, 0, 64, true, 0x1000);
	eventfd_write(ring.kick_fd, 1);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	/* The kick is still there for the owner. */
	CU_ASSERT_EQUAL(eventfd_read(o.rings[0].ring.kick_fd, &(eventfd_t){ 0 }), 0);
	done();
}

static void
nt11_no_descriptors(void)
{
	owner_ready(&o, &p, F_PACKED, MEM);
	peer_ring_place(&ring, 0, 64, true, 0x1000);
	peer_ring_free(&ring);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	CU_ASSERT_TRUE(o.rings[0].running);
	CU_ASSERT_EQUAL(o.rings[0].ring.kick_fd, -1);
	CU_ASSERT_EQUAL(o.rings[0].ring.call_fd, -1);
	done();
}

/* A pipe may stand in for an eventfd; full, or without a reader, it must not hurt who writes. */
static void
event_descriptors(void)
{
	const uint64_t one = 1;
	int fds[2], sock[2], own;

	running(F_PACKED);
	CU_ASSERT_EQUAL(pipe(fds), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, fds[1]), 0);
	own = o.rings[0].ring.call_fd;
	CU_ASSERT_EQUAL(write(own, &one, sizeof(one)), sizeof(one));
	CU_ASSERT_EQUAL(read(fds[0], &(uint64_t){ 0 }, sizeof(one)), sizeof(one));
	/* The frontend's descriptor is as blocking as it was, and says nothing about ours. */
	CU_ASSERT_FALSE(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
	CU_ASSERT_TRUE(fcntl(own, F_GETFL) & O_NONBLOCK);
	close(fds[0]);
	close(fds[1]);
	while (write(own, &one, sizeof(one)) > 0)
		;
	CU_ASSERT_EQUAL(errno, EAGAIN);
	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, sock[0]), 1);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, p.mem.fd), 1);
	CU_ASSERT_EQUAL(o.rings[0].ring.call_fd, own);
	CU_ASSERT_TRUE(o.rings[0].running);
	close(sock[0]);
	close(sock[1]);
	done();
}

/* Signalling never waits: not for a full pipe, nor for an eventfd that a frontend has filled and
 * made blocking.
 */
static void
notify(void)
{
	eventfd_t count = 0;
	unsigned int i;
	int fds[2];

	running(F_PACKED);
	for (i = 0; i < 1000; i++)
		pvu_notify(o.loop, o.rings[0].ring.call_fd);
	CU_ASSERT_EQUAL(eventfd_read(ring.call_fd, &count), 0);
	CU_ASSERT_EQUAL(count, 1000);
	fcntl(ring.call_fd, F_SETFL, 0);
	CU_ASSERT_EQUAL(eventfd_write(ring.call_fd, UINT64_MAX - 1), 0);
	pvu_notify(o.loop, o.rings[0].ring.call_fd);
	CU_ASSERT_EQUAL(eventfd_read(ring.call_fd, &count), 0);
	CU_ASSERT_TRUE(count >= UINT64_MAX - 1);

	CU_ASSERT_EQUAL(pipe(fds), 0);
	CU_ASSERT_EQUAL(peer_ask_fd(&p, PVU_SET_VRING_CALL, 0, fds[1]), 0);
	for (i = 0; i < 100000; i++)
		pvu_notify(o.loop, o.rings[0].ring.call_fd);
	CU_ASSERT_EQUAL(read(fds[0], &count, sizeof(count)), sizeof(count));
	CU_ASSERT_EQUAL(count, 1);
	close(fds[0]);
	close(fds[1]);
	done();
}

/* This process has no room for all that come: the kernel drops some, and all are closed. */
static void
descriptors_lost(void)
{
	struct rlimit limit, low;
	unsigned int before, i;
	int fds[8];

	running(F_PACKED);
	for (i = 0; i < 8; i++)
		fds[i] = dup(p.mem.fd);
	before = peer_count_fds();
	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	low.rlim_cur = (rlim_t)fds[7] + 4;
	CU_ASSERT_EQUAL(peer_send(&p, PVU_SET_MEM_TABLE, 0, "", 0, fds, 8), 0);
	setrlimit(RLIMIT_NOFILE, &low);
	peer_pump(&p);
	setrlimit(RLIMIT_NOFILE, &limit);
	CU_ASSERT_FALSE(o.info.connected);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.info.down_reason, "were lost"));
	CU_ASSERT_EQUAL(peer_count_fds(), before - 3); /* connection, kick, call */
	for (i = 0; i < 8; i++)
		close(fds[i]);
	done();
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "FD01 eight descriptors, 1000 rounds", fd01_thousand_rounds },
		{ "XB08 new descriptors", xb08_new_descriptors },
		{ "NT09 kick before enable", nt09_kick_before_enable },
		{ "NT11 no descriptors", nt11_no_descriptors },
		{ "event descriptors", event_descriptors },
		{ "notify", notify },
		{ "descriptors lost", descriptors_lost },
	};

	return run_tests("pvu descriptors", cases, ARRAY_LEN(cases));
}
