/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <stdlib.h>

#include "pvq_packed_dev.h"

int
pvq_packed_dev_init(struct pvq_packed_dev *vq, const struct pvq_packed_dev_conf *conf)
{
	if (conf->size == 0 || conf->size > PVQ_MAX_SIZE || conf->base.idx >= conf->size)
		return -EINVAL;
	*vq = (struct pvq_packed_dev){
		.desc = conf->desc,
		.driver_event = conf->driver_event,
		.device_event = conf->device_event,
		.desc_addr = conf->desc_addr,
		.device_addr = conf->device_addr,
		.size = conf->size,
		.avail = conf->base,
		.used = conf->base,
		.event_idx = conf->event_idx,
		/* The driver's event offset may be of long ago: the first batch always calls. */
		.nb_unsignalled = 2u * conf->size,
	};
	pvq_mem_cache_init(&vq->mem, conf->mem);
	vq->shadow_used = calloc(conf->size, sizeof(vq->shadow_used[0]));
	return vq->shadow_used == NULL ? -ENOMEM : 0;
}

void
pvq_packed_dev_fini(struct pvq_packed_dev *vq)
{
	free(vq->shadow_used);
	vq->shadow_used = NULL;
}

int
pvq_packed_dev_place(struct pvq_packed_dev_conf *conf, uint64_t desc_addr, uint64_t driver_addr,
		uint64_t device_addr)
{
	struct pvq_mem_cache mem;

	if (desc_addr % 16 != 0 || driver_addr % 4 != 0 || device_addr % 4 != 0)
		return -EINVAL;
	pvq_mem_cache_init(&mem, conf->mem);
	conf->desc = pvq_mem_whole(&mem, desc_addr, conf->size * sizeof(conf->desc[0]));
	conf->driver_event = pvq_mem_whole(&mem, driver_addr, sizeof(*conf->driver_event));
	conf->device_event = pvq_mem_whole(&mem, device_addr, sizeof(*conf->device_event));
	conf->desc_addr = desc_addr;
	conf->device_addr = device_addr;
	return conf->desc && conf->driver_event && conf->device_event ? 0 : -EFAULT;
}

static struct pvq_seg
desc_seg(uint64_t addr, uint32_t len, uint16_t flags)
{
	return (struct pvq_seg){ .addr = addr, .len = len, .write = (flags & PVQ_F_WRITE) != 0 };
}

/* 2.8.19: in a table only WRITE counts, and the table's length alone tells where it ends. */
static int
append_table(struct pvq_packed_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs,
		uint64_t addr, uint32_t len)
{
	struct vring_packed_desc d;
	int ret = -EINVAL;

	if (len % sizeof(d) != 0 || len / sizeof(d) > vq->size)
		return -EINVAL;
	for (uint32_t off = 0; off < len; off += sizeof(d)) {
		if (pvq_mem_read(&vq->mem, addr + off, &d, sizeof(d)) < 0)
			return -EINVAL;
		ret = pvq_chain_append(chain, segs, desc_seg(d.addr, d.len, d.flags));
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* Copy the chain at @p c, whose head's word has been read, segment by segment. */
static int
append_chain(struct pvq_packed_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs,
		struct pvq_cursor *c, uint64_t word)
{
	const uint16_t room = vq->size - vq->taken;
	int ret = 1;

	for (;;) {
		uint64_t addr = pvq_load(&vq->desc[c->idx].addr);
		uint32_t len = pvq_packed_word_len(word);
		uint16_t flags = pvq_packed_word_flags(word);

		chain->id = pvq_packed_word_id(word);
		chain->ndesc++;
		pvq_cursor_advance(c, 1, vq->size);
		if (flags & PVQ_F_INDIRECT) {
			/* 2.8.19: never within a chain, never together with NEXT */
			if (chain->ndesc > 1 || (flags & PVQ_F_NEXT))
				return -EINVAL;
			return append_table(vq, chain, segs, addr, len);
		}
		/* Without room, too, the walk goes on to the end: id and ndesc have to be right. */
		if (pvq_chain_append(chain, segs, desc_seg(addr, len, flags)) < 0)
			ret = -EINVAL;
		if (!(flags & PVQ_F_NEXT))
			return ret;
		if (chain->ndesc == room)
			return -EINVAL;
		word = pvq_load(pvq_packed_word(&vq->desc[c->idx]));
	}
}

int
pvq_packed_next_avail(struct pvq_packed_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs)
{
	struct pvq_cursor c = vq->avail;
	uint64_t word;
	int ret;

	if (vq->taken == vq->size)
		return 0;
	word = pvq_load(pvq_packed_word(&vq->desc[c.idx]));
	if (!pvq_packed_is_avail(word, c.wrap))
		return 0;
	pvq_read_barrier(); /* A: the chain after the head's flags */
	*chain = (struct pvq_chain){ .segs = &segs->seg[segs->n] };
	ret = append_chain(vq, chain, segs, &c, word);
	vq->avail = c;
	vq->taken += chain->ndesc;
	return ret;
}

uint16_t
pvq_packed_count_avail(const struct pvq_packed_dev *vq)
{
	const uint16_t room = vq->size - vq->taken;
	struct pvq_cursor c = vq->avail;
	uint16_t n = 0;

	while (n < room &&
			pvq_packed_is_avail(pvq_load(pvq_packed_word(&vq->desc[c.idx])), c.wrap)) {
		pvq_cursor_advance(&c, 1, vq->size);
		n++;
	}
	return n;
}

void
pvq_packed_mark_used(const struct pvq_packed_dev *vq, const struct pvq_dirty *dirty,
		struct pvq_cursor end)
{
	const uint64_t each = sizeof(vq->desc[0]);
	uint32_t n = pvq_cursor_distance(vq->used, end, vq->size);
	uint32_t to_end = vq->size - vq->used.idx;
	uint32_t first = n < to_end ? n : to_end;

	pvq_dirty_mark(dirty, vq->desc_addr + vq->used.idx * each, first * each);
	if (n > first)
		pvq_dirty_mark(dirty, vq->desc_addr, (n - first) * each);
}
