/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CUnit/Basic.h>

#include "pvq_driver.h"

#define CANARY 0xa5

int
pvq_run_tests(const char *suite, CU_TestInfo *tests)
{
	CU_SuiteInfo suites[] = {
		{ .pName = suite, .pTests = tests },
		CU_SUITE_INFO_NULL,
	};
	unsigned int failures;

	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
		return 1;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures > 0;
}

uint64_t
pvq_rand(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t
whole_pages(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

void *
pvq_guarded_alloc(size_t size)
{
	size_t page = whole_pages(1);
	size_t body = whole_pages(size);
	uint8_t *map = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + page, body, PROT_READ | PROT_WRITE) < 0)
		err(1, "guarded memory");
	memset(map + page, CANARY, body - size);
	return map + page + body - size;
}

void
pvq_guarded_free(void *mem, size_t size)
{
	size_t page = whole_pages(1);
	size_t body = whole_pages(size);
	uint8_t *start = (uint8_t *)mem + size - body;
	bool intact = true;

	for (size_t i = 0; i < body - size; i++)
		intact &= start[i] == CANARY;
	CU_ASSERT_TRUE(intact);
	munmap(start - page, body + 2 * page);
}

void
pvq_driver_init(struct pvq_driver *drv, uint16_t size, uint64_t start)
{
	*drv = (struct pvq_driver){
		.size = size,
		.nfree_ids = size,
		.avail = start,
		.used = start,
	};
	drv->desc = pvq_guarded_alloc(size * sizeof(drv->desc[0]));
	drv->driver_event = pvq_guarded_alloc(sizeof(drv->driver_event[0]));
	drv->device_event = pvq_guarded_alloc(sizeof(drv->device_event[0]));
	drv->free_ids = calloc(size, sizeof(drv->free_ids[0]));
	drv->ndesc = calloc(size, sizeof(drv->ndesc[0]));
	if (drv->free_ids == NULL || drv->ndesc == NULL)
		err(1, "driver half");
	for (uint32_t i = 0; i < size; i++)
		drv->free_ids[i] = i;
	/* What the lap before left behind, slot by slot. */
	for (uint64_t pos = start > size ? start - size : 0; pos < start; pos++)
		pvq_driver_write(drv, pos, 0, 0, 0, pvq_driver_used_flags(drv, pos));
}

void
pvq_driver_fini(struct pvq_driver *drv)
{
	pvq_guarded_free(drv->desc, drv->size * sizeof(drv->desc[0]));
	pvq_guarded_free(drv->driver_event, sizeof(drv->driver_event[0]));
	pvq_guarded_free(drv->device_event, sizeof(drv->device_event[0]));
	free(drv->free_ids);
	free(drv->ndesc);
}

uint16_t
pvq_driver_avail_flags(const struct pvq_driver *drv, uint64_t pos)
{
	return pos / drv->size % 2 == 0 ? 0x0080 : 0x8000;
}

uint16_t
pvq_driver_used_flags(const struct pvq_driver *drv, uint64_t pos)
{
	return pos / drv->size % 2 == 0 ? 0x8080 : 0x0000;
}

struct pvq_cursor
pvq_driver_cursor(const struct pvq_driver *drv, uint64_t pos)
{
	return (struct pvq_cursor){ .idx = pos % drv->size, .wrap = pos / drv->size % 2 == 0 };
}

void
pvq_driver_write(struct pvq_driver *drv, uint64_t pos, uint64_t addr, uint32_t len, uint16_t id,
		uint16_t flags)
{
	struct vring_packed_desc *desc = pvq_driver_desc(drv, pos);

	pvq_store(&desc->addr, addr);
	pvq_store_release(pvq_packed_word(desc), pvq_packed_word_make(len, id, flags));
}

int
pvq_driver_add(struct pvq_driver *drv, const struct pvq_seg *segs, uint16_t n, uint16_t flags)
{
	uint16_t id;

	if (n > drv->size - (drv->avail - drv->used))
		return -1;
	id = drv->free_ids[--drv->nfree_ids];
	drv->ndesc[id] = n;
	for (uint16_t i = n; i-- > 0;) {
		bool last = i == n - 1;

		/* Only the last id counts; the others are there to mislead. */
		pvq_driver_write(drv, drv->avail + i, segs[i].addr, segs[i].len, last ? id : ~id,
				flags | pvq_driver_avail_flags(drv, drv->avail + i) |
						(last ? 0 : VRING_DESC_F_NEXT) |
						(segs[i].write ? VRING_DESC_F_WRITE : 0));
	}
	drv->avail += n;
	return id;
}

bool
pvq_driver_poll(struct pvq_driver *drv, struct pvq_driver_used *used)
{
	uint64_t word = pvq_load_acquire(pvq_packed_word(pvq_driver_desc(drv, drv->used)));
	uint16_t flags = pvq_packed_word_flags(word);

	if ((flags & 0x8080) != pvq_driver_used_flags(drv, drv->used))
		return false;
	*used = (struct pvq_driver_used){
		.len = pvq_packed_word_len(word),
		.id = pvq_packed_word_id(word),
		.flags = flags & ~0x8080,
	};
	if (used->id >= drv->size || drv->ndesc[used->id] == 0)
		return true;
	used->ndesc = drv->ndesc[used->id];
	drv->ndesc[used->id] = 0;
	drv->free_ids[drv->nfree_ids++] = used->id;
	drv->used += used->ndesc;
	return true;
}

void
pvq_pair_init(struct pvq_pair *p, uint16_t size, uint64_t start, bool event_idx)
{
	struct pvq_packed_dev_conf conf = { .size = size, .event_idx = event_idx, .mem = &p->mem };

	*p = (struct pvq_pair){ .segs.cap = pvq_segs_cap(size) };
	pvq_mem_init(&p->mem, p->region, 0);
	pvq_driver_init(&p->drv, size, start);
	conf.desc = p->drv.desc;
	conf.driver_event = p->drv.driver_event;
	conf.device_event = p->drv.device_event;
	conf.base = pvq_driver_cursor(&p->drv, start);
	p->segs.seg = calloc(p->segs.cap, sizeof(p->segs.seg[0]));
	if (p->segs.seg == NULL || pvq_packed_dev_init(&p->dev, &conf) < 0)
		errx(1, "device half");
}

void
pvq_pair_fini(struct pvq_pair *p)
{
	for (unsigned int i = 0; i < p->mem.nregions; i++)
		pvq_guarded_free(p->region[i].host, p->region[i].size);
	free(p->segs.seg);
	pvq_packed_dev_fini(&p->dev);
	pvq_driver_fini(&p->drv);
}

void *
pvq_pair_add_memory(struct pvq_pair *p, uint64_t addr, uint64_t size)
{
	unsigned int n = p->mem.nregions;

	p->region[n] = (struct pvq_mem_region){ addr, size, pvq_guarded_alloc(size) };
	memset(p->region[n].host, 0, size);
	if (pvq_mem_init(&p->mem, p->region, n + 1) < 0)
		errx(1, "driver memory");
	return p->region[n].host;
}
