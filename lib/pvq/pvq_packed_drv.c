/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <stdlib.h>

#include "pvq_packed_drv.h"

/* What AVAIL and USED of a slot are before it is filled on the lap @p c is on. */
static uint64_t
idle_word(struct pvq_cursor c)
{
	return pvq_packed_word_make(0, 0, pvq_packed_used_flags(!c.wrap));
}

int
pvq_packed_drv_init(struct pvq_packed_drv *vq, const struct pvq_packed_drv_conf *conf)
{
	struct pvq_cursor c = conf->base;

	if (conf->size == 0 || conf->size > PVQ_MAX_SIZE || c.idx >= conf->size ||
			conf->table_segs > conf->size)
		return -EINVAL;
	*vq = (struct pvq_packed_drv){
		.desc = conf->desc,
		.driver_event = conf->driver_event,
		.device_event = conf->device_event,
		.size = conf->size,
		.avail = conf->base,
		.used = conf->base,
		.nb_free = conf->size,
		.event_idx = conf->event_idx,
		.in_order = conf->in_order,
		.tables = conf->tables,
		.tables_addr = conf->tables_addr,
		.table_segs = conf->tables != NULL ? conf->table_segs : 0,
		/* The device's event offset may be of long ago: the first buffer always kicks. */
		.nb_unkicked = 2u * conf->size,
		.event = VRING_PACKED_EVENT_FLAG_ENABLE << 16,
	};
	vq->lent = calloc(conf->size, sizeof(vq->lent[0]));
	if (vq->lent == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < conf->size; i++)
		vq->lent[i].next = i + 1u < conf->size ? i + 1 : 0;
	for (uint32_t i = 0; i < conf->size; i++) {
		pvq_store(pvq_packed_word(&vq->desc[c.idx]), idle_word(c));
		pvq_cursor_advance(&c, 1, conf->size);
	}
	pvq_store(pvq_packed_event_word(vq->driver_event), vq->event);
	return 0;
}

void
pvq_packed_drv_fini(struct pvq_packed_drv *vq)
{
	free(vq->lent);
	vq->lent = NULL;
}

/* Write slot vq->avail; the first one that the device does not know of is kept back. */
static void
put_slot(struct pvq_packed_drv *vq, uint64_t addr, uint32_t len, uint16_t id, uint16_t flags)
{
	struct vring_packed_desc *desc = &vq->desc[vq->avail.idx];
	uint64_t word = pvq_packed_word_make(
			len, id, flags | pvq_packed_avail_flags(vq->avail.wrap));

	pvq_store(&desc->addr, addr);
	if (vq->unpublished) {
		pvq_store(pvq_packed_word(desc), word);
	} else {
		vq->unpublished = true;
		vq->head_idx = vq->avail.idx;
		vq->head_word = word;
	}
	pvq_cursor_advance(&vq->avail, 1, vq->size);
}

static uint16_t
write_flag(const struct pvq_seg *seg)
{
	return seg->write ? PVQ_F_WRITE : 0;
}

static void
put_table(struct pvq_packed_drv *vq, const struct pvq_seg *segs, uint16_t n, uint16_t id)
{
	uint32_t first = (uint32_t)id * vq->table_segs;
	struct vring_packed_desc *table = &vq->tables[first];

	for (uint16_t i = 0; i < n; i++) {
		pvq_store(&table[i].addr, segs[i].addr);
		pvq_store(pvq_packed_word(&table[i]),
				pvq_packed_word_make(segs[i].len, id, write_flag(&segs[i])));
	}
	put_slot(vq, vq->tables_addr + first * sizeof(*table), n * sizeof(*table), id,
			PVQ_F_INDIRECT);
}

static void
put_chain(struct pvq_packed_drv *vq, const struct pvq_seg *segs, uint16_t n, uint16_t id)
{
	for (uint16_t i = 0; i < n; i++)
		put_slot(vq, segs[i].addr, segs[i].len, id,
				write_flag(&segs[i]) | (i + 1 < n ? PVQ_F_NEXT : 0));
}

int
pvq_packed_put(struct pvq_packed_drv *vq, const struct pvq_seg *segs, uint16_t n, void *token)
{
	const bool table = n > 1 && n <= vq->table_segs;
	const uint16_t ndesc = table ? 1 : n;
	const uint16_t id = vq->free_id;
	int64_t writable = pvq_segs_writable(segs, n);

	if (vq->broken)
		return -EIO;
	if (writable < 0 || token == NULL)
		return -EINVAL;
	if (ndesc > vq->nb_free)
		return -ENOSPC;
	if (table)
		put_table(vq, segs, n, id);
	else
		put_chain(vq, segs, n, id);
	vq->free_id = vq->lent[id].next;
	vq->lent[id] = (struct pvq_packed_lent){
		.token = token,
		.writable = writable,
		.ndesc = ndesc,
		.next = vq->lent[id].next,
	};
	vq->nb_free -= ndesc;
	vq->nb_unkicked += ndesc;
	return 0;
}

/* Look for the used entry that closes the next batch. */
static bool
open_batch(struct pvq_packed_drv *vq)
{
	/* B: pairs with the device's write barrier before its used words */
	uint64_t word = pvq_load_acquire(pvq_packed_word(&vq->desc[vq->used.idx]));
	uint16_t id = pvq_packed_word_id(word);
	uint32_t len = pvq_packed_word_len(word);

	if (!pvq_packed_is_used(word, vq->used.wrap))
		return false;
	if (id >= vq->size || vq->lent[id].ndesc == 0) {
		vq->broken = true;
		return false;
	}
	vq->batch = true;
	vq->batch_last = id;
	vq->batch_len = len < vq->lent[id].writable ? len : vq->lent[id].writable;
	return true;
}

void *
pvq_packed_next_in_order(struct pvq_packed_drv *vq, uint32_t *len, bool count_wraps)
{
	const uint16_t id = vq->oldest;
	const struct pvq_packed_lent *lent = &vq->lent[id];
	void *token;

	if (!vq->batch && !open_batch(vq))
		return NULL;
	vq->batch = id != vq->batch_last;
	/* 2.8.7: what the device skipped, it has used in full. */
	*len = vq->batch ? lent->writable : vq->batch_len;
	vq->oldest = lent->next;
	token = pvq_packed_take_back(vq, id, count_wraps);
	pvq_packed_follow_event(vq);
	return token;
}

/* Write our event word. @return true: nothing has been used meanwhile */
static bool
arm(struct pvq_packed_drv *vq, struct pvq_cursor c)
{
	vq->event = pvq_packed_event_make(c, vq->event_idx ? VRING_PACKED_EVENT_FLAG_DESC
							   : VRING_PACKED_EVENT_FLAG_ENABLE);
	pvq_store(pvq_packed_event_word(vq->driver_event), vq->event);
	pvq_full_fence(); /* C: armed before the ring is looked at again */
	/* Not at the event's slot: a chain may pass over it and never write there. */
	return !pvq_packed_poll(vq, pvq_packed_position(vq));
}

void
pvq_packed_disable_cb(struct pvq_packed_drv *vq)
{
	if (vq->event >> 16 == VRING_PACKED_EVENT_FLAG_DISABLE)
		return;
	vq->event = VRING_PACKED_EVENT_FLAG_DISABLE << 16;
	pvq_store(pvq_packed_event_word(vq->driver_event), vq->event);
}

bool
pvq_packed_enable_cb(struct pvq_packed_drv *vq)
{
	return arm(vq, vq->used);
}

bool
pvq_packed_enable_cb_delayed(struct pvq_packed_drv *vq)
{
	uint16_t lent = vq->size - vq->nb_free;
	struct pvq_cursor c = vq->used;

	pvq_cursor_advance(&c, lent * 3u / 4, vq->size);
	return arm(vq, c);
}

/* Take the last filled slot back. */
static void
empty_slot(struct pvq_packed_drv *vq)
{
	/* One lap on, and that lap back but for one slot. */
	pvq_cursor_advance(&vq->avail, vq->size, vq->size);
	pvq_cursor_advance(&vq->avail, vq->size - 1, vq->size);
	pvq_store(pvq_packed_word(&vq->desc[vq->avail.idx]), idle_word(vq->avail));
}

void *
pvq_packed_detach_unused(struct pvq_packed_drv *vq)
{
	struct pvq_packed_lent *lent = vq->lent;
	uint16_t id = vq->detached;

	while (id < vq->size && lent[id].ndesc == 0)
		id++;
	vq->detached = id;
	if (id == vq->size) {
		vq->detached = 0;
		if (vq->in_order)
			vq->free_id = vq->oldest;
		return NULL;
	}
	vq->unpublished = false;
	for (uint16_t i = 0; i < lent[id].ndesc; i++)
		empty_slot(vq);
	vq->nb_free += lent[id].ndesc;
	lent[id].ndesc = 0;
	if (!vq->in_order) {
		lent[id].next = vq->free_id;
		vq->free_id = id;
	}
	return lent[id].token;
}
