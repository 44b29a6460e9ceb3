/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <stdlib.h>

#include "pvq_split_drv.h"

int
pvq_split_drv_init(struct pvq_split_drv *vq, const struct pvq_split_drv_conf *conf)
{
	if (!pvq_split_size_ok(conf->size) || conf->table_segs > conf->size)
		return -EINVAL;
	*vq = (struct pvq_split_drv){
		.desc = conf->desc,
		.avail_ring = conf->avail_ring,
		.used_ring = conf->used_ring,
		.size = conf->size,
		.shadow_avail_idx = conf->base,
		.used = conf->base,
		.nb_free = conf->size,
		.event_idx = conf->event_idx,
		.tables = conf->tables,
		.tables_addr = conf->tables_addr,
		.table_segs = conf->tables != NULL ? conf->table_segs : 0,
		/* The device's event index may be of long ago: the first buffer always kicks. */
		.nb_unkicked = UINT16_MAX + 1u,
	};
	vq->lent = calloc(conf->size, sizeof(vq->lent[0]));
	if (vq->lent == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < conf->size; i++)
		vq->lent[i].next = i + 1;
	pvq_store(&vq->used_ring->flags, 0);
	pvq_store(&vq->used_ring->idx, conf->base);
	pvq_store(&vq->avail_ring->flags, 0);
	pvq_store(&vq->avail_ring->idx, conf->base);
	if (vq->event_idx)
		pvq_store(pvq_split_used_event(vq->avail_ring, vq->size), conf->base);
	return 0;
}

void
pvq_split_drv_fini(struct pvq_split_drv *vq)
{
	free(vq->lent);
	vq->lent = NULL;
}

/* Write one descriptor, of the ring or of a table. */
static void
put_desc(struct vring_desc *desc, const struct pvq_seg *seg, uint16_t flags, uint16_t next)
{
	if (seg->write)
		flags |= PVQ_F_WRITE;
	pvq_store(&desc->addr, seg->addr);
	pvq_store(pvq_split_word(desc), pvq_split_word_make(seg->len, flags, next));
}

/* @return the descriptor */
static uint16_t
put_table(struct pvq_split_drv *vq, const struct pvq_seg *segs, uint16_t n, uint16_t head)
{
	uint32_t first = (uint32_t)head * vq->table_segs;
	struct vring_desc *table = &vq->tables[first];
	struct pvq_seg whole = {
		.addr = vq->tables_addr + first * sizeof(*table),
		.len = n * sizeof(*table),
	};

	for (uint16_t i = 0; i < n; i++) {
		bool more = i + 1 < n;

		put_desc(&table[i], &segs[i], more ? PVQ_F_NEXT : 0, more ? i + 1 : 0);
	}
	put_desc(&vq->desc[head], &whole, PVQ_F_INDIRECT, 0);
	return head;
}

/* @return the last descriptor */
static uint16_t
put_chain(struct pvq_split_drv *vq, const struct pvq_seg *segs, uint16_t n, uint16_t head)
{
	uint16_t at = head;

	for (uint16_t i = 0; i + 1 < n; i++) {
		uint16_t next = vq->lent[at].next;

		put_desc(&vq->desc[at], &segs[i], PVQ_F_NEXT, next);
		at = next;
	}
	put_desc(&vq->desc[at], &segs[n - 1], 0, 0);
	return at;
}

int
pvq_split_put(struct pvq_split_drv *vq, const struct pvq_seg *segs, uint16_t n, void *token)
{
	const bool table = n > 1 && n <= vq->table_segs;
	const uint16_t ndesc = table ? 1 : n;
	const uint16_t head = vq->free_head;
	int64_t writable = pvq_segs_writable(segs, n);
	struct pvq_split_lent *lent = &vq->lent[head];

	if (vq->broken)
		return -EIO;
	if (writable < 0 || token == NULL)
		return -EINVAL;
	if (ndesc > vq->nb_free)
		return -ENOSPC;
	lent->last = table ? put_table(vq, segs, n, head) : put_chain(vq, segs, n, head);
	lent->token = token;
	lent->writable = writable;
	lent->ndesc = ndesc;
	vq->free_head = vq->lent[lent->last].next;
	vq->nb_free -= ndesc;
	vq->nb_lent++;
	pvq_store(&vq->avail_ring->ring[vq->shadow_avail_idx & (vq->size - 1)], head);
	vq->shadow_avail_idx++;
	vq->nb_unkicked++;
	return 0;
}

void
pvq_split_disable_cb(struct pvq_split_drv *vq)
{
	if (vq->shadow_avail_flags & VRING_AVAIL_F_NO_INTERRUPT)
		return;
	/* With EVENT_IDX the flags stay 0 (2.7.7.1), and an index just passed is the longest wait.
	 */
	vq->shadow_avail_flags |= VRING_AVAIL_F_NO_INTERRUPT;
	if (vq->event_idx)
		pvq_store(pvq_split_used_event(vq->avail_ring, vq->size), vq->used - 1);
	else
		pvq_store(&vq->avail_ring->flags, vq->shadow_avail_flags);
}

/* Ask for a call when @p more buffers besides the next one are used.
 * @return true: so many are not used yet
 */
static bool
arm(struct pvq_split_drv *vq, uint16_t more)
{
	vq->shadow_avail_flags &= ~VRING_AVAIL_F_NO_INTERRUPT;
	if (vq->event_idx)
		pvq_store(pvq_split_used_event(vq->avail_ring, vq->size), vq->used + more);
	else
		pvq_store(&vq->avail_ring->flags, vq->shadow_avail_flags);
	pvq_full_fence(); /* C: armed before the ring is looked at again */
	return pvq_split_nb_used(vq) <= more;
}

bool
pvq_split_enable_cb(struct pvq_split_drv *vq)
{
	return arm(vq, 0);
}

bool
pvq_split_enable_cb_delayed(struct pvq_split_drv *vq)
{
	return arm(vq, vq->event_idx ? vq->nb_lent * 3u / 4 : 0);
}

void *
pvq_split_detach_unused(struct pvq_split_drv *vq)
{
	while (vq->detached < vq->size && vq->lent[vq->detached].ndesc == 0)
		vq->detached++;
	if (vq->detached == vq->size) {
		vq->detached = 0;
		return NULL;
	}
	vq->shadow_avail_idx--;
	pvq_split_publish(vq);
	return pvq_split_take_back(vq, vq->detached);
}
