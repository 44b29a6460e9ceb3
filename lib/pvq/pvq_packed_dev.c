/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <stdlib.h>

#include "pvq_packed_dev.h"

int
pvq_packed_dev_init(struct pvq_packed_dev *vq, const struct pvq_packed_dev_conf *conf)
{
	if (conf->size == 0 || conf->size > PVQ_PACKED_MAX_SIZE || conf->base.idx >= conf->size)
		return -EINVAL;
	*vq = (struct pvq_packed_dev){
		.desc = conf->desc,
		.driver_event = conf->driver_event,
		.device_event = conf->device_event,
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

uint32_t
pvq_packed_dev_segs(uint16_t size)
{
	/* One buffer has at most size segments; a packet over several buffers wants some more. */
	return size < 512 ? 1024 : 2u * size;
}

static int
append_seg(struct pvq_chain *chain, struct pvq_segs *segs, uint64_t addr, uint32_t len,
		uint16_t flags)
{
	if (segs->n == segs->cap)
		return -EINVAL;
	segs->seg[segs->n++] = (struct pvq_seg){
		.addr = addr,
		.len = len,
		.write = (flags & PVQ_F_WRITE) != 0,
	};
	chain->nsegs++;
	return 1;
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
		ret = append_seg(chain, segs, d.addr, d.len, d.flags);
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
		if (append_seg(chain, segs, addr, len, flags) < 0)
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
	if ((pvq_packed_word_flags(word) & (PVQ_F_AVAIL | PVQ_F_USED)) !=
			pvq_packed_avail_flags(c.wrap))
		return 0;
	pvq_read_barrier(); /* A: the chain after the head's flags */
	*chain = (struct pvq_chain){ .segs = &segs->seg[segs->n] };
	ret = append_chain(vq, chain, segs, &c, word);
	vq->avail = c;
	vq->taken += chain->ndesc;
	return ret;
}
