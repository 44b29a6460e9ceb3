/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>

#include "pvq_split_dev.h"

int
pvq_split_dev_place(struct pvq_split_dev_conf *conf, uint64_t desc_addr, uint64_t avail_addr,
		uint64_t used_addr)
{
	struct pvq_mem_cache mem;

	if (desc_addr % 16 != 0 || avail_addr % 2 != 0 || used_addr % 4 != 0)
		return -EINVAL;
	pvq_mem_cache_init(&mem, conf->mem);
	conf->desc = pvq_mem_whole(&mem, desc_addr, conf->size * sizeof(conf->desc[0]));
	conf->avail_ring = pvq_mem_whole(
			&mem, avail_addr, pvq_split_avail_bytes(conf->size, conf->event_idx));
	conf->used_ring = pvq_mem_whole(
			&mem, used_addr, pvq_split_used_bytes(conf->size, conf->event_idx));
	conf->used_addr = used_addr;
	return conf->desc && conf->avail_ring && conf->used_ring ? 0 : -EFAULT;
}

int
pvq_split_dev_init(struct pvq_split_dev *vq, const struct pvq_split_dev_conf *conf)
{
	if (!pvq_split_size_ok(conf->size))
		return -EINVAL;
	*vq = (struct pvq_split_dev){
		.desc = conf->desc,
		.avail_ring = conf->avail_ring,
		.used_ring = conf->used_ring,
		.size = conf->size,
		.avail = conf->base,
		.known_avail = conf->base,
		.used = conf->base,
		.event_idx = conf->event_idx,
		.used_addr = conf->used_addr,
		/* The driver's event index may be of long ago: the first batch always calls. */
		.nb_unsignalled = UINT16_MAX + 1u,
	};
	pvq_mem_cache_init(&vq->mem, conf->mem);
	return 0;
}

static struct pvq_seg
desc_seg(uint64_t addr, uint64_t word)
{
	return (struct pvq_seg){
		.addr = addr,
		.len = pvq_split_word_len(word),
		.write = (pvq_split_word_flags(word) & PVQ_F_WRITE) != 0,
	};
}

/* 2.7.5.3: a table holds a chain of its own, which begins at its first entry; and no table. */
static int
append_table(struct pvq_split_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs,
		uint64_t addr, uint32_t len)
{
	const uint32_t n = len / sizeof(struct vring_desc);
	struct vring_desc d = { .next = 0 };

	if (len % sizeof(d) != 0 || n > vq->size)
		return -EINVAL;
	for (uint32_t walked = 0; walked < n && d.next < n; walked++) {
		struct pvq_seg seg;

		if (pvq_mem_read(&vq->mem, addr + d.next * sizeof(d), &d, sizeof(d)) < 0 ||
				(d.flags & PVQ_F_INDIRECT))
			return -EINVAL;
		seg = desc_seg(d.addr, pvq_split_word_make(d.len, d.flags, d.next));
		if (pvq_chain_append(chain, segs, seg) < 0)
			return -EINVAL;
		if (!(d.flags & PVQ_F_NEXT))
			return 1;
	}
	return -EINVAL;
}

/* Copy the chain that begins at descriptor @p i, segment by segment. */
static int
append_chain(struct pvq_split_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs, uint16_t i)
{
	while (i < vq->size && chain->ndesc < vq->size) {
		uint64_t word = pvq_load(pvq_split_word(&vq->desc[i]));
		uint64_t addr = pvq_load(&vq->desc[i].addr);
		uint16_t flags = pvq_split_word_flags(word);

		chain->ndesc++;
		if (flags & PVQ_F_INDIRECT) {
			/* 2.7.5.3.1: a table ends a chain */
			if (flags & PVQ_F_NEXT)
				return -EINVAL;
			return append_table(vq, chain, segs, addr, pvq_split_word_len(word));
		}
		if (pvq_chain_append(chain, segs, desc_seg(addr, word)) < 0)
			return -EINVAL;
		if (!(flags & PVQ_F_NEXT))
			return 1;
		i = pvq_split_word_next(word);
	}
	return -EINVAL;
}

int
pvq_split_next_avail(struct pvq_split_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs)
{
	uint16_t head;

	if (pvq_split_nb_avail(vq) == 0)
		return 0;
	head = pvq_load(&vq->avail_ring->ring[vq->avail & (vq->size - 1)]);
	vq->avail++;
	if (head >= vq->size)
		return -ENXIO;
	vq->taken++;
	*chain = (struct pvq_chain){ .id = head, .segs = &segs->seg[segs->n] };
	return append_chain(vq, chain, segs, head);
}

void
pvq_split_mark_used(const struct pvq_split_dev *vq, const struct pvq_dirty *dirty)
{
	const uint64_t each = sizeof(struct vring_used_elem);
	const uint64_t ring = vq->used_addr + offsetof(struct vring_used, ring);
	uint32_t at = vq->used & (vq->size - 1);
	uint32_t to_end = vq->size - at;
	uint32_t first = vq->nb_pushed < to_end ? vq->nb_pushed : to_end;

	pvq_dirty_mark(dirty, ring + at * each, first * each);
	if (vq->nb_pushed > first)
		pvq_dirty_mark(dirty, ring, (vq->nb_pushed - first) * each);
	/* The index itself, too, before it is seen; and once more when it has been written. */
	pvq_dirty_mark(dirty, vq->used_addr, offsetof(struct vring_used, ring));
}

static void
set_used_flags(struct pvq_split_dev *vq, const struct pvq_dirty *dirty, uint16_t flags)
{
	pvq_store(&vq->used_ring->flags, flags);
	pvq_dirty_mark(dirty, vq->used_addr, sizeof(flags));
}

void
pvq_split_disable_kick(struct pvq_split_dev *vq, const struct pvq_dirty *dirty)
{
	if (!vq->event_idx)
		set_used_flags(vq, dirty, VRING_USED_F_NO_NOTIFY);
}

bool
pvq_split_enable_kick(struct pvq_split_dev *vq, const struct pvq_dirty *dirty)
{
	if (vq->event_idx) {
		pvq_store(pvq_split_avail_event(vq->used_ring, vq->size), vq->avail);
		pvq_dirty_mark(dirty, vq->used_addr + pvq_split_used_bytes(vq->size, false),
				sizeof(uint16_t));
	} else {
		set_used_flags(vq, dirty, 0);
	}
	pvq_full_fence(); /* D: armed before the ring is looked at again */
	return pvq_split_nb_avail(vq) == 0;
}
