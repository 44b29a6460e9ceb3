/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "pvq_order.h"

#include "threads.h"

enum {
	PATIENCE = 2000, /* some 50 us: longer than the other side takes, shorter than a slice */
	PATIENCE_SHARED = 2,
};

unsigned int threads_patience = PATIENCE;

/* The far side's thread, and the flags by which both start; each is alone on its line. */
struct far {
	void (*work)(void *);
	void *arg;
	unsigned int cpu;
	int ready __attribute__((aligned(256)));
	int go __attribute__((aligned(256)));
};

void
threads_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		warn("CPU %u: cannot pin a thread to it", cpu);
}

void
threads_place(const struct params *params)
{
	threads_patience = params->cpu[0] == params->cpu[1] ? PATIENCE_SHARED : PATIENCE;
}

void
threads_stalled(void)
{
	errx(EXIT_FAILURE, "nothing has moved for %d s: a buffer or a wake-up is lost",
			THREADS_STALL);
}

void
threads_yield(struct threads_idle *idle)
{
	uint64_t now = clock_ns();

	idle->rounds = 0;
	if (idle->since == 0)
		idle->since = now;
	else if (now - idle->since > THREADS_STALL * UINT64_C(1000000000))
		threads_stalled();
	sched_yield();
}

static void
wait_for(int *flag)
{
	struct threads_idle idle = { 0 };

	while (pvq_load_acquire(flag) == 0)
		threads_wait(&idle);
}

static void *
far_main(void *arg)
{
	struct far *far = arg;

	threads_pin(far->cpu);
	pvq_store_release(&far->ready, 1);
	wait_for(&far->go);
	far->work(far->arg);
	return NULL;
}

static void
timed(void (*work)(void *), void *arg, struct sample *sample)
{
	uint64_t ns = clock_ns(), ticks = clock_ticks();

	work(arg);
	sample->ticks = clock_ticks() - ticks;
	ns = clock_ns() - ns;
	sample->ns = ns > 0 ? ns : 1; /* a coarse clock: nothing takes no time */
}

void
threads_pair(const struct params *params, void (*near)(void *), void (*far)(void *), void *arg,
		struct sample *sample)
{
	struct far other = { .work = far, .arg = arg, .cpu = params->cpu[1] };
	pthread_t thread;
	int ret;

	threads_pin(params->cpu[0]);
	ret = pthread_create(&thread, NULL, far_main, &other);
	if (ret != 0) {
		errno = ret;
		err(EXIT_FAILURE, "cannot start a thread");
	}
	wait_for(&other.ready);
	pvq_store_release(&other.go, 1);
	timed(near, arg, sample);
	pthread_join(thread, NULL);
}

void
threads_one(const struct params *params, void (*work)(void *), void *arg, struct sample *sample)
{
	threads_pin(params->cpu[0]);
	timed(work, arg, sample);
}
