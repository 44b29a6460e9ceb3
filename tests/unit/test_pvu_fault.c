/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A file that shrinks under its mapping, and the SIGBUS handlers of other people. */

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pvu_owner.h"

#define MEM 0x10000

static struct owner o, other;
static struct peer p, q;

static uint8_t
touch(const struct owner *owner, size_t offset)
{
	volatile uint8_t *at = (uint8_t *)owner->regions[0].host + offset;
	uint8_t value = *at;

	*at = 1;
	return value;
}

static void
shrinking_file(void)
{
	struct peer_ring ring;

	owner_ready(&o, &p, F_PACKED, MEM);
	owner_ready(&other, &q, F_PACKED, MEM);
	peer_ring_place(&ring, 0, 64, true, 0x1000);
	CU_ASSERT_EQUAL(peer_ring_start(&p, &ring), 0);
	p.mem.base[0x8000] = 0x55;
	CU_ASSERT_EQUAL(ftruncate(p.mem.fd, 0x9000), 0);
	CU_ASSERT_EQUAL(touch(&o, 0x8000), 0x55);
	CU_ASSERT_TRUE(o.info.connected);
	/* Zeroes, and time to say good-bye; the other device does not notice. */
	CU_ASSERT_EQUAL(touch(&o, 0xa000), 0);
	CU_ASSERT_EQUAL(touch(&o, 0xf000), 0);
	owner_pump(&o);
	owner_pump(&other);
	CU_ASSERT_FALSE(o.info.connected);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.info.down_reason, "region 0 was cut short"));
	CU_ASSERT_FALSE(o.rings[0].running);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	CU_ASSERT_TRUE(other.info.connected);
	peer_ring_free(&ring);
	owner_done(&o, &p);
	owner_done(&other, &q);
}

static void *
touch_all(void *arg)
{
	size_t i;

	for (i = 0; i < MEM; i += 0x1000)
		touch(arg, i);
	return NULL;
}

static void
shrinking_in_threads(void)
{
	pthread_t threads[4];
	unsigned int round, i;

	for (round = 0; round < 20; round++) {
		owner_ready(&o, &p, F_PACKED, MEM);
		CU_ASSERT_EQUAL(ftruncate(p.mem.fd, 0), 0);
		for (i = 0; i < ARRAY_LEN(threads); i++)
			pthread_create(&threads[i], NULL, touch_all, &o);
		for (i = 0; i < ARRAY_LEN(threads); i++)
			pthread_join(threads[i], NULL);
		owner_pump(&o);
		CU_ASSERT_FALSE(o.info.connected);
		owner_done(&o, &p);
	}
}

static sigjmp_buf back;
static volatile sig_atomic_t seen;

static void
plain(int sig)
{
	(void)sig;
	seen++;
	siglongjmp(back, 1);
}

static void
with_info(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	seen += info->si_code == BUS_ADRERR;
	siglongjmp(back, 1);
}

/* A page of a file that is empty. */
static volatile uint8_t *
foreign_page(void)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	void *page = mmap(NULL, 0x1000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	return page;
}

static void
handler_before_ours(void)
{
	volatile uint8_t *page = foreign_page();
	struct sigaction sa = { .sa_handler = plain }, kept, now;
	unsigned int i;

	sigaction(SIGBUS, NULL, &kept);
	for (i = 0; i < 2; i++) {
		if (i == 1) {
			sa.sa_sigaction = with_info;
			sa.sa_flags = SA_SIGINFO;
		}
		sigaction(SIGBUS, &sa, NULL);
		owner_ready(&o, &p, F_PACKED, MEM);
		seen = 0;
		if (sigsetjmp(back, 1) == 0)
			*page = 1;
		CU_ASSERT_EQUAL(seen, 1);
		CU_ASSERT_EQUAL(ftruncate(p.mem.fd, 0), 0);
		CU_ASSERT_EQUAL(touch(&o, 0), 0);
		CU_ASSERT_EQUAL(seen, 1);
		owner_done(&o, &p);
		/* With the last region our handler goes, and theirs is back. */
		sigaction(SIGBUS, NULL, &now);
		CU_ASSERT_TRUE(now.sa_handler == sa.sa_handler);
	}
	sigaction(SIGBUS, &kept, NULL);
	munmap((void *)(uintptr_t)page, 0x1000);
}

static struct sigaction below;

static void
hands_on(int sig, siginfo_t *info, void *context)
{
	seen++;
	below.sa_sigaction(sig, info, context);
}

/* Somebody puts a handler above ours, and hands on: no circle, no fault lost. */
static void
handler_after_ours(void)
{
	struct sigaction sa = { .sa_sigaction = hands_on, .sa_flags = SA_SIGINFO }, now;

	owner_ready(&o, &p, F_PACKED, MEM);
	sigaction(SIGBUS, &sa, &below);
	owner_done(&o, &p);
	sigaction(SIGBUS, NULL, &now);
	CU_ASSERT_TRUE(now.sa_sigaction == hands_on);
	seen = 0;
	owner_ready(&o, &p, F_PACKED, MEM);
	CU_ASSERT_EQUAL(ftruncate(p.mem.fd, 0), 0);
	CU_ASSERT_EQUAL(touch(&o, 0), 0);
	CU_ASSERT_EQUAL(seen, 1);
	sigaction(SIGBUS, &below, NULL);
	owner_done(&o, &p);
	sigaction(SIGBUS, NULL, &now);
	CU_ASSERT_TRUE(now.sa_handler == SIG_DFL);
}

/* How a child ends that has a device and then meets a SIGBUS not of its making. */
static int
child(bool fault, void (*before)(int))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		signal(SIGBUS, before);
		owner_ready(&o, &p, F_PACKED, MEM);
		if (fault)
			*foreign_page() = 1;
		else
			raise(SIGBUS);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void
no_handler(void)
{
	CU_ASSERT_EQUAL(WTERMSIG(child(true, SIG_DFL)), SIGBUS);
	CU_ASSERT_EQUAL(WTERMSIG(child(false, SIG_DFL)), SIGBUS);
	CU_ASSERT_EQUAL(WTERMSIG(child(true, SIG_IGN)), SIGBUS);
	CU_ASSERT_EQUAL(WEXITSTATUS(child(false, SIG_IGN)), 7);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "shrinking file", shrinking_file },
		{ "shrinking file, threads", shrinking_in_threads },
		{ "a handler before ours", handler_before_ours },
		{ "a handler after ours", handler_after_ours },
		{ "no handler", no_handler },
	};

	signal(SIGBUS, SIG_DFL); /* a sanitizer may have put one there */
	return run_tests("pvu faults", cases, ARRAY_LEN(cases));
}
