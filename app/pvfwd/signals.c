/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>

#include "signals.h"

int pvfwd_stop_requests;
static sem_t wakeup;

static void
on_signal(int sig)
{
	int saved = errno;

	if (__atomic_fetch_add(&pvfwd_stop_requests, 1, __ATOMIC_RELAXED) > 0)
		_exit(128 + sig);
	sem_post(&wakeup);
	errno = saved;
}

void
pvfwd_signals_init(void)
{
	struct sigaction stop = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sem_init(&wakeup, 0, 0);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGUSR1, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL); /* a reader that went away ends no forwarding */
}

void
pvfwd_stop(void)
{
	__atomic_store_n(&pvfwd_stop_requests, 1, __ATOMIC_RELAXED);
	sem_post(&wakeup);
}

void
pvfwd_sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (sem_clockwait(&wakeup, CLOCK_MONOTONIC, &ts) < 0 && errno == EINTR)
		;
}
