/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A frontend can shrink a file after we have mapped it. The next access beyond the new end is a
 * SIGBUS in whichever thread touched it. Here the page is replaced by a private page of zeroes, so
 * that the thread goes on, and the loop is woken to take the device down. Every other SIGBUS
 * belongs to whoever had the handler before.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pvu_priv.h"

#define NR_GUARDS 2048
#define FREE UINTPTR_MAX /* as a start it is above every address */

/* The handler reads these without a lock. A slot is written while its start is FREE, and start is
 * the last to be set. The slot a faulting thread is in is stable: a mapping's slot is freed only
 * after every thread has let go of the mapping.
 */
static struct guard {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end;
	_Atomic size_t page;
	atomic_int wake_fd;
	atomic_bool hit;
} guards[NR_GUARDS];

static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nr_used;
static atomic_uint nr_ever; /* slots that have been used once */
static bool hooked;
static struct sigaction previous;

static struct guard *
guard_find(uintptr_t addr)
{
	unsigned int i, n = atomic_load_explicit(&nr_ever, memory_order_acquire);

	for (i = 0; i < n; i++) {
		struct guard *g = &guards[i];
		uintptr_t start = atomic_load_explicit(&g->start, memory_order_acquire);

		if (addr >= start && addr < atomic_load_explicit(&g->end, memory_order_acquire) &&
				atomic_load_explicit(&g->start, memory_order_relaxed) == start)
			return g;
	}
	return NULL;
}

static bool
guard_patch(struct guard *g, uintptr_t addr)
{
	size_t page = atomic_load_explicit(&g->page, memory_order_relaxed);
	int fd = atomic_load_explicit(&g->wake_fd, memory_order_relaxed);
	const uint64_t one = 1;

	if (mmap((void *)(addr & ~(page - 1)), page, PROT_READ | PROT_WRITE,
			    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return false;
	atomic_store_explicit(&g->hit, true, memory_order_release);
	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		return true; /* the eventfd is full: the loop wakes anyhow */
	return true;
}

static void
pass_on(int sig, siginfo_t *info, void *context)
{
	if (previous.sa_flags & SA_SIGINFO) {
		previous.sa_sigaction(sig, info, context);
		return;
	}
	if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
		previous.sa_handler(sig);
		return;
	}
	if (info->si_code <= 0 && previous.sa_handler == SIG_IGN)
		return;
	/* A fault: returning repeats it, and now it ends the process. A signal that was sent
	 * does not repeat by itself.
	 */
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig);
}

static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	uintptr_t addr = (uintptr_t)info->si_addr;
	struct guard *g = NULL;

	/* An alignment fault would come again on a fresh page: it is not ours. */
	if (info->si_code == BUS_ADRERR || info->si_code == BUS_MCEERR_AR)
		g = guard_find(addr);
	if (g == NULL || !guard_patch(g, addr))
		pass_on(sig, info, context);
	errno = saved;
}

static int
hook(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus };

	/* Still below somebody else's handler, who hands on to us: hooking again would make a
	 * circle of the two.
	 */
	if (hooked)
		return 0;
	sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigemptyset(&sa.sa_mask);
	/* Known before ours can be called. */
	if (sigaction(SIGBUS, NULL, &previous) < 0 || sigaction(SIGBUS, &sa, NULL) < 0)
		return -errno;
	hooked = true;
	return 0;
}

static void
unhook(void)
{
	struct sigaction current;

	if (sigaction(SIGBUS, NULL, &current) < 0 || !(current.sa_flags & SA_SIGINFO) ||
			current.sa_sigaction != on_sigbus)
		return;
	sigaction(SIGBUS, &previous, NULL);
	hooked = false;
}

int
pvu_guard_add(void *base, size_t len, size_t page, int wake_fd)
{
	struct guard *g;
	unsigned int i, n;
	int rc = -ENOSPC;

	pthread_mutex_lock(&guard_lock);
	n = atomic_load(&nr_ever);
	for (i = 0; i < n; i++)
		if (atomic_load(&guards[i].start) == FREE)
			break;
	if (i == NR_GUARDS)
		goto out;
	rc = hook();
	if (rc < 0)
		goto out;

	g = &guards[i];
	atomic_store(&g->start, FREE);
	atomic_store(&g->end, (uintptr_t)base + len);
	atomic_store(&g->page, page);
	atomic_store(&g->wake_fd, wake_fd);
	atomic_store(&g->hit, false);
	atomic_store(&g->start, (uintptr_t)base);
	if (i == n)
		atomic_store(&nr_ever, n + 1);
	nr_used++;
	rc = (int)i;
out:
	pthread_mutex_unlock(&guard_lock);
	return rc;
}

void
pvu_guard_remove(int guard)
{
	pthread_mutex_lock(&guard_lock);
	atomic_store(&guards[guard].start, FREE);
	if (--nr_used == 0)
		unhook();
	pthread_mutex_unlock(&guard_lock);
}

void
pvu_guard_abandon(int guard)
{
	/* The loop may be gone, and its descriptor another file's, when a thread faults. */
	atomic_store(&guards[guard].wake_fd, -1);
}

bool
pvu_guard_hit(int guard)
{
	return atomic_load_explicit(&guards[guard].hit, memory_order_acquire);
}
