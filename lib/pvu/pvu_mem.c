/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "pvu_priv.h"

/* Regions are multiples of this on every architecture; the page of the file may be larger. */
#define REGION_ALIGN UINT64_C(4096)

static int
check_numbers(struct pvu_dev *dev, const struct pvu_mem_region *r, unsigned int i)
{
	uint64_t end;

	if (r->size == 0)
		return pvu_fail(dev, -EINVAL, "memory region %u is empty", i);
	if ((r->guest_addr | r->user_addr | r->size | r->offset) & (REGION_ALIGN - 1))
		return pvu_fail(dev, -EINVAL, "memory region %u is not page aligned", i);
	if (__builtin_add_overflow(r->guest_addr, r->size, &end) ||
			__builtin_add_overflow(r->user_addr, r->size, &end) ||
			__builtin_add_overflow(r->offset, r->size, &end))
		return pvu_fail(dev, -EINVAL, "memory region %u wraps around", i);
	return 0;
}

static bool
overlap(uint64_t a, uint64_t alen, uint64_t b, uint64_t blen)
{
	return a < b + blen && b < a + alen;
}

static int
check_overlap(struct pvu_dev *dev, const struct pvu_mem_region *r, unsigned int count)
{
	unsigned int i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			if (overlap(r[i].guest_addr, r[i].size, r[j].guest_addr, r[j].size) ||
					overlap(r[i].user_addr, r[i].size, r[j].user_addr,
							r[j].size))
				return pvu_fail(dev, -EINVAL, "memory regions %u and %u overlap", j,
						i);
	return 0;
}

/* Is @p fd a file in memory that holds the region, and of which page size? */
static int
check_file(struct pvu_dev *dev, const struct pvu_mem_region *r, int fd, unsigned int i,
		size_t *page)
{
	struct statfs fs;
	struct stat st;

	/* Only files in memory have seals. This is asked first because it never blocks: fstat()
	 * and page faults on a file system in user space or on a network can, for ever.
	 */
	if (fcntl(fd, F_GET_SEALS) < 0)
		return pvu_fail(dev, -EINVAL,
				"memory region %u is no memfd, tmpfs or hugetlbfs file", i);
	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return pvu_fail(dev, -errno, "memory region %u: %s", i, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return pvu_fail(dev, -EINVAL, "memory region %u is not a regular file", i);
	if (st.st_size < 0 || r->offset + r->size > (uint64_t)st.st_size)
		return pvu_fail(dev, -EINVAL,
				"memory region %u ends %" PRIu64 " bytes beyond its file", i,
				r->offset + r->size - (uint64_t)st.st_size);
	*page = fs.f_type == HUGETLBFS_MAGIC ? (size_t)fs.f_bsize : (size_t)sysconf(_SC_PAGESIZE);
	return 0;
}

/* Map without consuming memory: mlockall() has new mappings populated where they can be read. */
static void *
map_lazily(size_t len, int fd, off_t offset)
{
	void *base = mmap(NULL, len, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, offset);
	int err;

	if (base == MAP_FAILED)
		return NULL;
	if (mprotect(base, len, PROT_READ | PROT_WRITE) < 0) {
		err = errno;
		munmap(base, len);
		errno = err;
		return NULL;
	}
	madvise(base, len, MADV_DONTDUMP);
	return base;
}

static int
map_region(struct pvu_dev *dev, struct pvu_memory *mem, const struct pvu_mem_region *r, int fd)
{
	unsigned int i = mem->count;
	struct pvu_mapping *map = &mem->maps[i];
	uint64_t start, len;
	size_t page = 0;
	int rc;

	rc = check_file(dev, r, fd, i, &page);
	if (rc < 0)
		return rc;
	start = r->offset & ~(uint64_t)(page - 1);
	len = (r->offset + r->size - start + page - 1) & ~(uint64_t)(page - 1);
	map->base = map_lazily(len, fd, (off_t)start);
	if (map->base == NULL)
		return pvu_fail(dev, -errno, "memory region %u cannot be mapped: %s", i,
				strerror(errno));
	map->len = len;
	map->guard = pvu_guard_add(map->base, len, page, dev->loop->wake_fd);
	if (map->guard < 0) {
		munmap(map->base, len);
		return pvu_fail(dev, map->guard, "memory region %u cannot be guarded: %s", i,
				strerror(-map->guard));
	}
	mem->regions[i] = (struct pvu_region){
		.guest_addr = r->guest_addr,
		.user_addr = r->user_addr,
		.size = r->size,
		.host = (char *)map->base + (r->offset - start),
	};
	mem->count++;
	return 0;
}

int
pvu_mem_map(struct pvu_dev *dev, const struct pvu_mem_region *wire, const int *fds,
		unsigned int count, struct pvu_memory **mem)
{
	struct pvu_memory *new;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < count && rc == 0; i++)
		rc = check_numbers(dev, &wire[i], i);
	if (rc == 0)
		rc = check_overlap(dev, wire, count);
	if (rc < 0)
		return rc;

	new = calloc(1, sizeof(*new));
	if (new == NULL)
		return pvu_fail(dev, -ENOMEM, "no memory for a memory table");
	for (i = 0; i < count && rc == 0; i++)
		rc = map_region(dev, new, &wire[i], fds[i]);
	if (rc < 0) {
		pvu_mem_free(new);
		return rc;
	}
	*mem = new;
	return 0;
}

void
pvu_mem_free(struct pvu_memory *mem)
{
	unsigned int i;

	if (mem == NULL)
		return;
	for (i = 0; i < mem->count; i++) {
		pvu_guard_remove(mem->maps[i].guard);
		munmap(mem->maps[i].base, mem->maps[i].len);
	}
	free(mem);
}

void
pvu_mem_abandon(struct pvu_memory *mem)
{
	static SLIST_HEAD(, pvu_memory) abandoned; /* only so that it stays reachable */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned int i;

	if (mem == NULL)
		return;
	for (i = 0; i < mem->count; i++)
		pvu_guard_abandon(mem->maps[i].guard);
	pthread_mutex_lock(&lock);
	SLIST_INSERT_HEAD(&abandoned, mem, abandoned);
	pthread_mutex_unlock(&lock);
}

void *
pvu_mem_at(const struct pvu_memory *mem, uint64_t user_addr, uint64_t len)
{
	unsigned int i;

	for (i = 0; i < mem->count; i++) {
		const struct pvu_region *r = &mem->regions[i];

		if (user_addr >= r->user_addr && user_addr - r->user_addr < r->size &&
				len <= r->size - (user_addr - r->user_addr))
			return (char *)r->host + (user_addr - r->user_addr);
	}
	return NULL;
}
