/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "memory.h"

enum {
	HEADROOM = 128,      /* what DPDK leaves before a packet's data */
	DEFAULT_ROOM = 2048, /* data room without headroom, as DPDK's default */
	MBUF_OVERHEAD = 256, /* struct rte_mbuf and the mempool's header */
	VIRTIO_HEADER = 12,
	PAGE = 4096,         /* without hugepages, an mbuf crosses no page that it could fit */
	BASE_MEGABYTES = 64, /* EAL, ports, rings of the usual sizes */
};

static const char sysfs[] = "/sys/kernel/mm/hugepages";

static unsigned long
pages(const char *pool, const char *file)
{
	unsigned long value = 0;
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", sysfs, pool, file);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &value) != 1)
		value = 0;
	fclose(f);
	return value;
}

/* One pool must hold all the instances; EAL may round each of its needs up by a page. */
static bool
pool_suffices(const char *pool, unsigned int megabytes)
{
	unsigned long kilobytes, free, reserved, need;

	if (sscanf(pool, "hugepages-%lukB", &kilobytes) != 1 || kilobytes == 0)
		return false;
	free = pages(pool, "free_hugepages");
	reserved = pages(pool, "resv_hugepages");
	need = (megabytes * 1024UL + kilobytes - 1) / kilobytes + 1;
	return free >= reserved && free - reserved >= NB_STAGES * need;
}

static bool
hugepages_suffice(unsigned int megabytes)
{
	bool found = false;
	struct dirent *entry;
	DIR *dir = opendir(sysfs);

	if (dir == NULL)
		return false;
	while (!found && (entry = readdir(dir)) != NULL)
		found = pool_suffices(entry->d_name, megabytes);
	closedir(dir);
	return found;
}

/*
 * The mbufs of the middle, which has the most: both its ports' rings full of frames, a burst on
 * its way through each queue, and the caches of its lcores. pvfwd rounds up to a power of two.
 */
static uint64_t
mbufs(const struct options *opt)
{
	enum { CACHE = 384 };
	unsigned int segments = (opt->size + DEFAULT_ROOM - 1) / DEFAULT_ROOM;
	unsigned int queue = opt->ring_size * (1 + segments) + opt->burst * segments;
	unsigned int needed = CACHE * (opt->queues + 1) + 2 * opt->queues * queue;
	unsigned int rounded = 1;

	while (rounded <= needed)
		rounded *= 2;
	return rounded;
}

void
memory_plan(struct memory *mem, const struct options *opt)
{
	/* net_vhost does not say that it can spread a frame over mbufs, and so is not asked to. */
	bool scatters = strcmp(opt->backend, "pvhost") == 0;
	bool is_long = opt->size > DEFAULT_ROOM;
	/* virtio-user counts its header as part of a frame. */
	unsigned int whole = MAX(opt->size + VIRTIO_HEADER, (unsigned int)DEFAULT_ROOM);
	unsigned int mbuf;

	mem->mbuf_size[SENDER] = HEADROOM + (is_long ? DEFAULT_ROOM : whole);
	mem->mbuf_size[MIDDLE] = HEADROOM + (is_long && scatters ? DEFAULT_ROOM : whole);
	/* Without mergeable buffers, the one that waits for a frame holds all of it. */
	mem->mbuf_size[RECEIVER] = HEADROOM + (is_long && opt->mergeable ? DEFAULT_ROOM : whole);

	mbuf = MAX(mem->mbuf_size[MIDDLE], mem->mbuf_size[RECEIVER]) + MBUF_OVERHEAD;
	mem->megabytes = BASE_MEGABYTES + (unsigned int)(mbufs(opt) * roundup(mbuf, PAGE) >> 20);
	mem->huge = !opt->no_huge && hugepages_suffice(mem->megabytes);
}
