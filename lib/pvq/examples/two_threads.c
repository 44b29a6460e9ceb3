/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */
/* A million buffers go from a driver to a device over one packed ring, and back. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <pvq_packed_dev.h>
#include <pvq_packed_drv.h>

#define SIZE 256
#define COUNT 1000000

static struct vring_packed_desc ring[SIZE];
static struct vring_packed_desc_event calls, kicks;
static const struct pvq_mem mem; /* no regions: no buffer is looked into */
static const struct pvq_packed_drv_conf drv_conf = { ring, &calls, &kicks, SIZE,
	.base.wrap = true };
static const struct pvq_packed_dev_conf dev_conf = { ring, &calls, &kicks, SIZE, .base.wrap = true,
	.mem = &mem };
static struct pvq_packed_dev dev;
static struct pvq_packed_drv drv;

static void *
device(void *sum)
{
	struct pvq_single buf[32];

	for (uint32_t n = 0, got; n < COUNT; n += got) {
		got = pvq_packed_next_singles(&dev, buf, 32, false);
		for (uint32_t i = 0; i < got; i++)
			*(uint64_t *)sum += buf[i].addr;
		pvq_packed_push_singles(&dev, buf, got, false);
		pvq_packed_flush_used(&dev, NULL);
		if (got == 0)
			sched_yield();
	}
	return NULL;
}

int
main(void)
{
	struct pvq_seg seg = { .addr = 0, .len = 64 };
	pthread_t thread;
	uint64_t sum = 0;
	if (pvq_packed_drv_init(&drv, &drv_conf) < 0 || pvq_packed_dev_init(&dev, &dev_conf) < 0 ||
			pthread_create(&thread, NULL, device, &sum) != 0)
		return 1;
	for (uint32_t back = 0, len; back < COUNT; sched_yield()) {
		while (seg.addr < COUNT && pvq_packed_put(&drv, &seg, 1, ring) == 0)
			seg.addr++;
		pvq_packed_publish(&drv);
		while (pvq_packed_next_used(&drv, &len) != NULL)
			back++;
	}
	pthread_join(thread, NULL);
	printf("%d buffers, sum of addresses %llu\n", COUNT, (unsigned long long)sum);
	return sum == (uint64_t)COUNT * (COUNT - 1) / 2 ? 0 : 1;
}
