/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <math.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "counter.h"

/* Only one thread counts, the one that runs all experiments. */
static int fd = -1;

void
counter_start(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HW_CACHE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
			  PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

double
counter_stop(void)
{
	uint64_t misses;
	ssize_t n;

	if (fd < 0)
		return NAN;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = read(fd, &misses, sizeof(misses));
	close(fd);
	fd = -1;
	return n == sizeof(misses) ? (double)misses : NAN;
}
