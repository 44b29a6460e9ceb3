/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A plain driver half of a split ring. Buffers are counted from 0 up and never wrap; the counts and
 * the free descriptors are where the packed driver has its own.
 */

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "frontend.h"

void
fe_split_place(struct fe *fe, struct fe_ring *ring, uint64_t count)
{
	struct pvq_driver *drv = &ring->drv;

	ring->avail = (void *)fe_host(fe, ring->wire.driver);
	ring->used = (void *)fe_host(fe, ring->wire.device);
	ring->desc = (void *)fe_host(fe, ring->wire.desc);
	ring->link = calloc(drv->size, sizeof(ring->link[0]));
	if (ring->link == NULL)
		err(1, "ring");
	memset(ring->desc, 0xff, drv->size * sizeof(ring->desc[0]));
	ring->avail->flags = ring->used->flags = 0;
	ring->avail->idx = ring->used->idx = (uint16_t)count;
	*fe_split_guard(ring) = FE_GUARD;
	drv->avail = drv->used = count;
	ring->wire.base = (uint16_t)count;
}

int
fe_split_add(struct fe_ring *ring, const struct pvq_seg *segs, uint16_t n, uint16_t flags)
{
	struct pvq_driver *drv = &ring->drv;
	uint16_t at, head;

	if (n > drv->nfree_ids)
		return -1;
	head = at = drv->free_ids[--drv->nfree_ids];
	for (uint16_t i = 0; i < n; i++) {
		bool last = i == n - 1;
		uint16_t next = last ? 0xffff : drv->free_ids[--drv->nfree_ids];

		ring->desc[at] = (struct vring_desc){
			.addr = segs[i].addr,
			.len = segs[i].len,
			.flags = flags | (last ? 0 : VRING_DESC_F_NEXT) |
				 (segs[i].write ? VRING_DESC_F_WRITE : 0),
			.next = next,
		};
		ring->link[at] = next;
		at = next;
	}
	drv->ndesc[head] = n;
	ring->avail->ring[drv->avail++ % drv->size] = head;
	pvq_store_release(&ring->avail->idx, (uint16_t)drv->avail);
	return head;
}

bool
fe_split_poll(struct fe_ring *ring, struct pvq_driver_used *used)
{
	struct pvq_driver *drv = &ring->drv;
	const struct vring_used_elem *e = &ring->used->ring[drv->used % drv->size];
	uint16_t at;

	if (pvq_load_acquire(&ring->used->idx) == (uint16_t)drv->used)
		return false;
	*used = (struct pvq_driver_used){
		.len = e->len,
		.id = e->id,
		.flags = e->len > 0 ? VRING_DESC_F_WRITE : 0,
	};
	if (e->id >= drv->size || drv->ndesc[e->id] == 0)
		return true;
	used->ndesc = drv->ndesc[e->id];
	drv->ndesc[e->id] = 0;
	at = used->id;
	for (uint16_t i = 0; i < used->ndesc; i++, at = ring->link[at])
		drv->free_ids[drv->nfree_ids++] = at;
	drv->used++;
	return true;
}

void
fe_split_table(struct fe *fe, const struct fe_buf *buf, bool write)
{
	for (unsigned int i = 0; i < buf->n; i++) {
		bool last = i + 1 == buf->n;
		struct vring_desc d = {
			.addr = fe_guest(fe, buf->off[i]),
			.len = buf->len[i],
			.flags = (write ? VRING_DESC_F_WRITE : 0) | (last ? 0 : VRING_DESC_F_NEXT),
			.next = last ? 0xffff : i + 1,
		};

		memcpy(fe_host(fe, buf->table + i * sizeof(d)), &d, sizeof(d));
	}
}
