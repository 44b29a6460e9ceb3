/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef CLOCK_H
#define CLOCK_H

/**
 * @file
 * Time, and the processor's own counter: rdtsc on x86, cntvct_el0 on Arm, else nanoseconds.
 */

#include <stdint.h>
#include <time.h>

static inline uint64_t
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t
clock_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void
clock_pause(void)
{
	__builtin_ia32_pause();
}
#elif defined(__aarch64__)
static inline uint64_t
clock_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline void
clock_pause(void)
{
	__asm__ volatile("yield" ::: "memory");
}
#else
static inline uint64_t
clock_ticks(void)
{
	return clock_ns();
}

static inline void
clock_pause(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

#endif /* CLOCK_H */
