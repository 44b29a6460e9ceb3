/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdlib.h>
#include <string.h>

#include "pvq_split_rig.h"

static size_t
up(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void *
part(struct split_rig *rig, unsigned int i, uint64_t addr, size_t bytes)
{
	void *mem = pvq_guarded_alloc(bytes);

	memset(mem, 0x5a, bytes);
	rig->region[i] = (struct pvq_mem_region){ addr, bytes, mem };
	return mem;
}

static uint16_t *
guard(struct split_rig *rig)
{
	return pvq_split_avail_event(rig->used, rig->size);
}

static void
set_up(struct split_rig *rig, uint16_t base)
{
	const bool event_idx = rig->flags & SPLIT_EVENT_IDX;
	struct pvq_split_drv_conf drv = { .desc = rig->desc,
		.avail_ring = rig->avail,
		.used_ring = rig->used,
		.size = rig->size,
		.base = base,
		.event_idx = event_idx,
		.tables = rig->tables,
		.tables_addr = SPLIT_TABLES_ADDR,
		.table_segs = rig->table_segs };
	struct pvq_split_dev_conf dev = {
		.size = rig->size, .base = base, .event_idx = event_idx, .mem = &rig->mem
	};

	CU_ASSERT_EQUAL_FATAL(pvq_split_drv_init(&rig->drv, &drv), 0);
	CU_ASSERT_EQUAL_FATAL(pvq_split_dev_place(&dev, SPLIT_DESC_ADDR, SPLIT_AVAIL_ADDR,
					      SPLIT_USED_ADDR),
			0);
	CU_ASSERT_PTR_EQUAL_FATAL(dev.used_ring, rig->used);
	CU_ASSERT_EQUAL_FATAL(pvq_split_dev_init(&rig->dev, &dev), 0);
}

void
split_rig_init(struct split_rig *rig, uint16_t size, uint16_t base, unsigned int flags)
{
	const bool event_idx = flags & SPLIT_EVENT_IDX;
	unsigned int n = 3;

	*rig = (struct split_rig){ .size = size, .flags = flags };
	rig->desc = part(rig, 0, SPLIT_DESC_ADDR, size * sizeof(rig->desc[0]));
	rig->avail = part(rig, 1, SPLIT_AVAIL_ADDR, pvq_split_avail_bytes(size, event_idx));
	/* Always room for the event index: without one its bytes are a guard. */
	rig->used = part(rig, 2, SPLIT_USED_ADDR, up(pvq_split_used_bytes(size, true)));
	*guard(rig) = SPLIT_GUARD;
	if (flags & SPLIT_INDIRECT) {
		rig->table_segs = size < SPLIT_TABLE_SEGS ? size : SPLIT_TABLE_SEGS;
		rig->tables = part(rig, n++, SPLIT_TABLES_ADDR,
				(size_t)size * rig->table_segs * sizeof(rig->tables[0]));
	}
	rig->data = part(rig, n++, SPLIT_DATA_ADDR, SPLIT_DATA_BYTES);
	CU_ASSERT_EQUAL_FATAL(pvq_mem_init(&rig->mem, rig->region, n), 0);
	rig->segs.cap = pvq_segs_cap(size);
	rig->segs.seg = calloc(rig->segs.cap, sizeof(rig->segs.seg[0]));
	set_up(rig, base);
}

void
split_rig_fini(struct split_rig *rig)
{
	if (!(rig->flags & SPLIT_EVENT_IDX))
		CU_ASSERT_EQUAL(*guard(rig), SPLIT_GUARD); /* EV07 */
	for (unsigned int i = 0; i < rig->mem.nregions; i++)
		pvq_guarded_free(rig->region[i].host, rig->region[i].size);
	pvq_split_drv_fini(&rig->drv);
	free(rig->segs.seg);
}

void
split_rig_each(void (*fn)(struct split_rig *rig))
{
	static const uint16_t sizes[] = { 1, 2, 4, 8, 16, 256, 32768 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned int flags = 0; flags <= SPLIT_ALL_FLAGS; flags++)
			for (unsigned int base = 0; base < 2; base++) {
				struct split_rig rig;

				split_rig_init(&rig, sizes[i], base ? 65534 : 0, flags);
				fn(&rig);
				split_rig_fini(&rig);
			}
}

void
split_rig_desc(struct split_rig *rig, uint16_t i, uint64_t addr, uint32_t len, uint16_t flags,
		uint16_t next)
{
	rig->desc[i] = (struct vring_desc){ addr, len, flags, next };
}

void
split_rig_offer(struct split_rig *rig, uint16_t head)
{
	uint16_t idx = rig->avail->idx;

	rig->avail->ring[idx % rig->size] = head;
	pvq_store_release(&rig->avail->idx, idx + 1);
}

int
split_rig_take(struct split_rig *rig, struct pvq_chain *chain)
{
	rig->segs.n = 0;
	return pvq_split_next_avail(&rig->dev, chain, &rig->segs);
}

void
split_rig_serve(struct split_rig *rig, uint32_t len)
{
	struct pvq_chain chain;

	CU_ASSERT_EQUAL_FATAL(split_rig_take(rig, &chain), 1);
	pvq_split_push_used(&rig->dev, chain.id, len);
	pvq_split_flush_used(&rig->dev, NULL);
}

void
split_rig_pass(struct split_rig *rig, uint64_t n, uint16_t nsegs)
{
	uint32_t len;

	for (uint64_t i = 0; i < n; i++) {
		void *token = split_rig_token(i);

		CU_ASSERT_EQUAL_FATAL(
				pvq_split_add(&rig->drv, split_rig_segs(nsegs, 0), nsegs, token),
				0);
		split_rig_serve(rig, 7);
		CU_ASSERT_PTR_EQUAL_FATAL(pvq_split_next_used(&rig->drv, &len), token);
		CU_ASSERT_EQUAL_FATAL(len, 7);
	}
}

const struct pvq_seg *
split_rig_segs(uint16_t n, uint16_t nread)
{
	static struct pvq_seg segs[PVQ_MAX_SIZE];

	for (uint32_t i = 0; i < n; i++)
		segs[i] = (struct pvq_seg){
			.addr = SPLIT_DATA_ADDR + i % 32 * 64, .len = 60, .write = i >= nread
		};
	return segs;
}
