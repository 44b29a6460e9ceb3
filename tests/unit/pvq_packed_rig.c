/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "pvq_packed_rig.h"

static void *
add_memory(struct pvq_rig *rig, uint64_t addr, uint64_t size)
{
	struct pvq_mem_region *r = &rig->region[rig->mem.nregions];

	*r = (struct pvq_mem_region){ addr, size, pvq_guarded_alloc(size) };
	memset(r->host, 0x5a, size);
	if (pvq_mem_init(&rig->mem, rig->region, rig->mem.nregions + 1) < 0)
		errx(1, "memory of the rig");
	return r->host;
}

static uint16_t
table_segs(const struct pvq_rig *rig)
{
	return rig->size < RIG_MAX_SEGS ? rig->size : RIG_MAX_SEGS;
}

struct pvq_cursor
pvq_rig_cursor(uint16_t size, uint64_t pos)
{
	return (struct pvq_cursor){ .idx = pos % size, .wrap = pos / size % 2 == 0 };
}

static void
start(struct pvq_rig *rig)
{
	const struct pvq_packed_drv_conf drv = {
		.desc = rig->desc,
		.driver_event = rig->driver_event,
		.device_event = rig->device_event,
		.size = rig->size,
		.base = pvq_rig_cursor(rig->size, rig->start),
		.event_idx = rig->flags & RIG_EVENT_IDX,
		.in_order = rig->flags & RIG_IN_ORDER,
		.tables = rig->tables,
		.tables_addr = RIG_TABLES_ADDR,
		.table_segs = table_segs(rig),
	};
	struct pvq_packed_dev_conf dev = {
		.size = rig->size,
		.base = drv.base,
		.event_idx = drv.event_idx,
		.mem = &rig->mem,
	};

	if (pvq_packed_drv_init(&rig->drv, &drv) < 0 ||
			pvq_packed_dev_place(&dev, RIG_DESC_ADDR, RIG_DRIVER_ADDR,
					RIG_DEVICE_ADDR) < 0 ||
			pvq_packed_dev_init(&rig->dev, &dev) < 0)
		errx(1, "halves of the rig");
	/* Until it says otherwise, a device asks for every kick. */
	pvq_store(pvq_packed_event_word(rig->device_event), 0);
}

void
pvq_rig_init(struct pvq_rig *rig, uint16_t size, uint64_t pos, unsigned int flags)
{
	*rig = (struct pvq_rig){
		.size = size, .start = pos, .flags = flags, .segs.cap = pvq_segs_cap(size)
	};
	rig->desc = add_memory(rig, RIG_DESC_ADDR, size * sizeof(rig->desc[0]));
	rig->driver_event = add_memory(rig, RIG_DRIVER_ADDR, sizeof(*rig->driver_event));
	rig->device_event = add_memory(rig, RIG_DEVICE_ADDR, sizeof(*rig->device_event));
	rig->data = add_memory(
			rig, RIG_DATA_ADDR, (uint64_t)size * RIG_MAX_SEGS * sizeof(rig->data[0]));
	if (flags & RIG_INDIRECT)
		rig->tables = add_memory(rig, RIG_TABLES_ADDR,
				(uint64_t)size * table_segs(rig) * sizeof(rig->tables[0]));
	rig->segs.seg = calloc(rig->segs.cap, sizeof(rig->segs.seg[0]));
	rig->sent = calloc(size, sizeof(rig->sent[0]));
	rig->free_at = calloc(size, sizeof(rig->free_at[0]));
	if (rig->segs.seg == NULL || rig->sent == NULL || rig->free_at == NULL)
		err(1, "buffers of the rig");
	while (rig->nfree_at < size) {
		rig->free_at[rig->nfree_at] = rig->nfree_at;
		rig->nfree_at++;
	}
	start(rig);
}

void
pvq_rig_restart(struct pvq_rig *rig, uint16_t size, uint64_t pos)
{
	pvq_packed_drv_fini(&rig->drv);
	pvq_packed_dev_fini(&rig->dev);
	rig->size = size;
	rig->start = pos;
	start(rig);
}

void
pvq_rig_fini(struct pvq_rig *rig)
{
	pvq_packed_drv_fini(&rig->drv);
	pvq_packed_dev_fini(&rig->dev);
	for (unsigned int i = 0; i < rig->mem.nregions; i++)
		pvq_guarded_free(rig->region[i].host, rig->region[i].size);
	free(rig->segs.seg);
	free(rig->sent);
	free(rig->free_at);
}

void
pvq_rig_each(void (*fn)(struct pvq_rig *rig))
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8, 16, 256, 1000, 32768 };
	struct pvq_rig rig;

	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
			for (unsigned int i = 0; i < 4; i++) {
				uint64_t lap = i / 2 * sizes[s];

				pvq_rig_init(&rig, sizes[s], lap + (i % 2 ? sizes[s] - 1 : 0),
						flags);
				fn(&rig);
				pvq_rig_fini(&rig);
			}
}

const struct pvq_seg *
pvq_rig_segs(uint16_t n, uint16_t nread)
{
	static struct pvq_seg seg[PVQ_MAX_SIZE + 1];

	for (uint16_t i = 0; i < n; i++)
		seg[i] = (struct pvq_seg){
			.addr = RIG_DATA_ADDR + 60u * i, .len = 60, .write = i >= nread
		};
	return seg;
}

uint16_t
pvq_rig_slots(const struct pvq_rig *rig, uint16_t nsegs)
{
	return (rig->flags & RIG_INDIRECT) && nsegs > 1 && nsegs <= table_segs(rig) ? 1 : nsegs;
}

int
pvq_rig_take(struct pvq_rig *rig, struct pvq_chain *chain)
{
	rig->segs.n = 0;
	return pvq_packed_next_avail(&rig->dev, chain, &rig->segs);
}

void
pvq_rig_use(struct pvq_rig *rig, const struct pvq_chain *chain, uint32_t len)
{
	pvq_packed_push_used(&rig->dev, chain->id, len, chain->ndesc);
	pvq_packed_flush_used(&rig->dev, NULL);
}

unsigned int
pvq_rig_serve(struct pvq_rig *rig, uint32_t len)
{
	struct pvq_chain chain;
	unsigned int n;

	for (n = 0; pvq_rig_take(rig, &chain) == 1; n++)
		pvq_rig_use(rig, &chain, len);
	return n;
}

void
pvq_rig_write_used(struct pvq_rig *rig, uint64_t pos, uint32_t id, uint32_t len)
{
	uint16_t flags = pos / rig->size % 2 == 0 ? 0x8080 : 0x0000;

	pvq_store_release(pvq_packed_word(&rig->desc[pos % rig->size]),
			pvq_packed_word_make(len, id, flags));
}

void
pvq_rig_pass(struct pvq_rig *rig, uint64_t n, uint16_t nsegs)
{
	const struct pvq_seg *segs = pvq_rig_segs(nsegs, nsegs);

	for (uint64_t i = 0; i < n; i++) {
		uint32_t len;

		CU_ASSERT_EQUAL_FATAL(pvq_packed_add(&rig->drv, segs, nsegs, pvq_rig_token(i)), 0);
		CU_ASSERT_EQUAL_FATAL(pvq_rig_serve(rig, 0), 1);
		CU_ASSERT_PTR_EQUAL_FATAL(pvq_packed_next_used(&rig->drv, &len), pvq_rig_token(i));
	}
}

static uint64_t
mix(uint64_t seq, uint64_t salt)
{
	uint64_t v = (seq + 1) * UINT64_C(0x9e3779b97f4a7c15) + salt * UINT64_C(0xbf58476d1ce4e5b9);

	return v ^ v >> 29;
}

/* Segments of buffer @p seq, and how many of them are to be read. */
static uint16_t
shape(uint64_t seq, uint16_t max, uint16_t *nread)
{
	uint16_t n = 1 + mix(seq, 1) % max;

	*nread = mix(seq, 2) % (n + 1u);
	return n;
}

int
pvq_rig_send(struct pvq_rig *rig, uint64_t seq, uint16_t max)
{
	struct pvq_seg segs[RIG_MAX_SEGS];
	uint16_t nread, n = shape(seq, max, &nread);
	uint16_t at = rig->nfree_at > 0 ? rig->free_at[rig->nfree_at - 1] : 0;
	uint64_t *data = &rig->data[at * RIG_MAX_SEGS];
	int ret;

	for (uint16_t i = 0; i < n; i++) {
		if (rig->nfree_at > 0)
			data[i] = mix(seq, 10 + i);
		segs[i] = (struct pvq_seg){
			.addr = RIG_DATA_ADDR + (uint64_t)(&data[i] - rig->data) * RIG_SEG_BYTES,
			.len = RIG_SEG_BYTES,
			.write = i >= nread,
		};
	}
	ret = pvq_packed_put(&rig->drv, segs, n, &rig->sent[at]);
	if (ret == 0) {
		rig->sent[at] = (struct pvq_rig_sent){ .seq = seq, .at = at };
		rig->nfree_at--;
	}
	return ret;
}

uint16_t
pvq_rig_sent_slots(const struct pvq_rig *rig, uint64_t seq, uint16_t max)
{
	uint16_t nread;

	return pvq_rig_slots(rig, shape(seq, max, &nread));
}

int64_t
pvq_rig_answer(struct pvq_rig *rig, uint64_t seq, uint16_t max, const struct pvq_chain *chain)
{
	uint16_t nread, n = shape(seq, max, &nread);

	if (chain->nsegs != n || chain->ndesc != pvq_rig_slots(rig, n))
		return -1;
	for (uint16_t i = 0; i < n; i++) {
		const struct pvq_seg *s = &chain->segs[i];
		uint64_t word = (s->addr - RIG_DATA_ADDR) / RIG_SEG_BYTES;

		if (word >= (uint64_t)rig->size * RIG_MAX_SEGS || s->len != RIG_SEG_BYTES ||
				s->write != (i >= nread) || rig->data[word] != mix(seq, 10 + i))
			return -1;
		if (s->write)
			rig->data[word] = ~mix(seq, 10 + i);
	}
	return (n - nread) * RIG_SEG_BYTES;
}

int
pvq_rig_receive(struct pvq_rig *rig, uint16_t max, uint64_t *seq)
{
	uint32_t len;
	struct pvq_rig_sent *sent = pvq_packed_next_used(&rig->drv, &len);
	uint16_t nread, n;

	if (sent == NULL)
		return 0;
	*seq = sent->seq;
	rig->free_at[rig->nfree_at++] = sent->at;
	n = shape(sent->seq, max, &nread);
	for (uint16_t i = 0; i < n; i++) {
		uint64_t want = mix(sent->seq, 10 + i);

		if (rig->data[sent->at * RIG_MAX_SEGS + i] != (i < nread ? want : ~want))
			return -1;
	}
	return len == (uint32_t)(n - nread) * RIG_SEG_BYTES ? 1 : -1;
}
