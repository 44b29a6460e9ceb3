/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_PACKED_DEV_H
#define PVQ_PACKED_DEV_H

/**
 * @file
 * The device half of a packed virtqueue (virtio 1.2, section 2.8).
 *
 * Verbs: *next_avail* takes a buffer off the ring, *push_used* notes that it is done with,
 * *flush_used* gives all noted buffers back, *must_call* says whether the driver wants to
 * be told. One thread at a time works on a ring. Whatever the driver writes, every field
 * is read once, every walk is bounded by the ring's size, and nothing beyond the ring is touched.
 *
 * What the owner writes into buffers it marks itself (pvq_dirty_segs()), before it flushes.
 */

#include "pvq_dirty.h"
#include "pvq_event.h"
#include "pvq_mem.h"
#include "pvq_order.h"
#include "pvq_packed.h"

/** A used entry that the driver does not see yet. */
struct pvq_used_elem {
	uint32_t len;   /**< bytes written into the buffer */
	uint16_t id;    /**< the buffer's id */
	uint16_t ndesc; /**< ring slots of the buffer */
};

struct pvq_packed_dev {
	struct vring_packed_desc *desc;
	struct pvq_cursor avail; /**< next slot to take */
	struct pvq_cursor used;  /**< next slot to write a used entry to */
	uint16_t size;
	uint16_t taken; /**< slots taken and not given back yet, at most size */
	uint16_t nb_shadow_used;
	bool event_idx;                    /**< VIRTIO_RING_F_EVENT_IDX is negotiated */
	uint64_t nb_unsignalled;           /**< slots used since must_call was last asked */
	struct pvq_used_elem *shadow_used; /**< size entries */
	struct pvq_mem_cache mem;
	struct vring_packed_desc_event *driver_event; /**< written by the driver: calls */
	struct vring_packed_desc_event *device_event; /**< written by the device: kicks */
	uint64_t desc_addr;                           /**< driver address of the ring, for marks */
	uint64_t device_addr; /**< driver address of device_event, for marks */
};

/** Where a ring is and how it is set up. */
struct pvq_packed_dev_conf {
	struct vring_packed_desc *desc;               /**< host address, 16-byte aligned */
	struct vring_packed_desc_event *driver_event; /**< host address, 4-byte aligned */
	struct vring_packed_desc_event *device_event; /**< host address, 4-byte aligned */
	uint16_t size;                                /**< slots, 1..PVQ_MAX_SIZE */
	struct pvq_cursor base; /**< first slot to take; slot 0 and wrap 1 for a fresh ring */
	bool event_idx;
	const struct pvq_mem *mem; /**< must outlive the ring */
	uint64_t desc_addr;        /**< of desc; only marks (pvq_dirty.h) need it */
	uint64_t device_addr;      /**< of device_event; only marks need it */
};

/** Look the ring up in @p conf->mem, by driver addresses: once, when it is set up. When the table
 *  changes, do it again and set the ring up anew from where it was.
 *  @param conf in: size and mem; out: all that has to do with where the ring is
 *  @return 0; -EINVAL: an address is not aligned (2.8.10.1); -EFAULT: a part is not wholly in one
 *          region
 */
int pvq_packed_dev_place(struct pvq_packed_dev_conf *conf, uint64_t desc_addr, uint64_t driver_addr,
		uint64_t device_addr);

/** Set up a ring; no shared memory is touched.
 *  @return 0, -EINVAL for a size or base outside its range, -ENOMEM.
 */
int pvq_packed_dev_init(struct pvq_packed_dev *vq, const struct pvq_packed_dev_conf *conf);

/** Free what pvq_packed_dev_init() allocated. */
void pvq_packed_dev_fini(struct pvq_packed_dev *vq);

/** Take the next available buffer of any shape: direct, chained, indirect (2.8.8, 2.8.19).
 *
 *  Its segments are appended to @p segs. A buffer that breaks the rules (endless chain, misshapen
 *  table, table outside memory, more segments than there is room for) is taken off the
 *  ring all the same: its id and ndesc are valid, and the caller gives it back with length 0.
 *
 *  @return 1: @p chain is a buffer; 0: there is none; -EINVAL: a broken one.
 */
int pvq_packed_next_avail(
		struct pvq_packed_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs);

/** Count the descriptors that are available and have not been taken. Looks at each: for a question
 *  now and then, not for every burst.
 */
uint16_t pvq_packed_count_avail(const struct pvq_packed_dev *vq);

/** Take up to @p max available buffers, as long as they are of one direct descriptor whose WRITE
 *  flag is @p write. Never runs over the ring's end: ask again there.
 *  @return the number taken; 0 also when the next one is of another shape.
 */
static inline uint16_t
pvq_packed_next_singles(struct pvq_packed_dev *vq, struct pvq_single *out, uint16_t max, bool write)
{
	const uint16_t mask = PVQ_F_AVAIL | PVQ_F_USED | PVQ_F_NEXT | PVQ_F_INDIRECT | PVQ_F_WRITE;
	const uint16_t want = pvq_packed_avail_flags(vq->avail.wrap) | (write ? PVQ_F_WRITE : 0);
	struct vring_packed_desc *desc = &vq->desc[vq->avail.idx];
	uint16_t to_end = vq->size - vq->avail.idx;
	uint16_t room = vq->size - vq->taken;
	uint16_t n;

	if (max > to_end)
		max = to_end;
	if (max > room)
		max = room;
	for (n = 0; n < max; n++) {
		uint64_t word = pvq_load(pvq_packed_word(&desc[n]));

		if ((pvq_packed_word_flags(word) & mask) != want)
			break;
		out[n].len = pvq_packed_word_len(word);
		out[n].id = pvq_packed_word_id(word);
	}
	pvq_read_barrier(); /* A: addresses after flags */
	for (uint16_t i = 0; i < n; i++)
		out[i].addr = pvq_load(&desc[i].addr);
	pvq_cursor_advance(&vq->avail, n, vq->size);
	vq->taken += n;
	return n;
}

/** A place to come back to when the buffers taken since are not wanted after all. */
struct pvq_packed_mark {
	struct pvq_cursor avail;
	uint16_t taken;
	uint16_t nb_shadow_used;
	struct pvq_used_elem first; /**< what pvq_packed_push_in_order() would add to */
};

static inline struct pvq_packed_mark
pvq_packed_mark(const struct pvq_packed_dev *vq)
{
	return (struct pvq_packed_mark){
		.avail = vq->avail,
		.taken = vq->taken,
		.nb_shadow_used = vq->nb_shadow_used,
		.first = vq->shadow_used[0],
	};
}

/** Put all buffers back that were taken since @p mark, pushed or not. Nothing may have been
 *  flushed since.
 */
static inline void
pvq_packed_rewind(struct pvq_packed_dev *vq, struct pvq_packed_mark mark)
{
	vq->avail = mark.avail;
	vq->taken = mark.taken;
	vq->nb_shadow_used = mark.nb_shadow_used;
	vq->shadow_used[0] = mark.first;
}

/** Of the buffers that pvq_packed_next_singles() took since @p mark, keep the first @p n only. */
static inline void
pvq_packed_keep(struct pvq_packed_dev *vq, struct pvq_packed_mark mark, uint16_t n)
{
	pvq_packed_rewind(vq, mark);
	pvq_cursor_advance(&vq->avail, n, vq->size);
	vq->taken += n;
}

/** Note that a taken buffer is done with. Nothing shared is written.
 *  @param len bytes written into it, 0 for one that the device only read
 */
static inline void
pvq_packed_push_used(struct pvq_packed_dev *vq, uint16_t id, uint32_t len, uint16_t ndesc)
{
	vq->shadow_used[vq->nb_shadow_used++] = (struct pvq_used_elem){
		.len = len,
		.id = id,
		.ndesc = ndesc,
	};
}

/** Say of all buffers pushed since @p mark that nothing was written into them. */
static inline void
pvq_packed_empty_used(struct pvq_packed_dev *vq, struct pvq_packed_mark mark)
{
	for (uint16_t i = mark.nb_shadow_used; i < vq->nb_shadow_used; i++)
		vq->shadow_used[i].len = 0;
}

/** As pvq_packed_push_used(), on a ring with VIRTIO_F_IN_ORDER: one used entry closes all that is
 *  noted in this batch (2.8.7). It says of the buffers before this one that they are fully used:
 *  so they were either only read, or filled to their last byte.
 */
static inline void
pvq_packed_push_in_order(struct pvq_packed_dev *vq, uint16_t id, uint32_t len, uint16_t ndesc)
{
	struct pvq_used_elem *e = vq->shadow_used;

	e->ndesc = ndesc + (vq->nb_shadow_used > 0 ? e->ndesc : 0);
	e->id = id;
	e->len = len;
	vq->nb_shadow_used = 1;
}

/** As pvq_packed_push_used() for @p n buffers that pvq_packed_next_singles() took.
 *  @param written their len says how much was written into them; otherwise it was nothing
 */
static inline void
pvq_packed_push_singles(
		struct pvq_packed_dev *vq, const struct pvq_single *buf, uint16_t n, bool written)
{
	struct pvq_used_elem *e = &vq->shadow_used[vq->nb_shadow_used];

	for (uint16_t i = 0; i < n; i++)
		e[i] = (struct pvq_used_elem){
			.len = written ? buf[i].len : 0,
			.id = buf[i].id,
			.ndesc = 1,
		};
	vq->nb_shadow_used += n;
}

/** The used entry of @p e as the driver reads it on a lap with wrap counter @p wrap (2.8.9). */
static inline uint64_t
pvq_packed_used_word(const struct pvq_used_elem *e, bool wrap)
{
	uint16_t flags = pvq_packed_used_flags(wrap) | (e->len > 0 ? PVQ_F_WRITE : 0);

	return pvq_packed_word_make(e->len, e->id, flags);
}

/** Mark the used entries from the last flush up to @p end. */
void pvq_packed_mark_used(const struct pvq_packed_dev *vq, const struct pvq_dirty *dirty,
		struct pvq_cursor end);

/** Give all noted buffers back, in the order they were noted.
 *
 *  One write barrier for the batch; then each used entry is published by one store of the whole
 *  word {len, id, flags}; the first one, which the driver polls, is stored last. So a driver sees
 *  the batch at once, and one that looks beyond the first never sees half an entry.
 *
 *  @param dirty who is told of the writes, or the constant NULL
 */
static inline void
pvq_packed_flush_used(struct pvq_packed_dev *vq, const struct pvq_dirty *dirty)
{
	/* Local copies: as far as the compiler knows, a store to the ring may change *vq. */
	const struct pvq_used_elem *e = vq->shadow_used;
	const struct pvq_used_elem *end = e + vq->nb_shadow_used;
	struct vring_packed_desc *desc = vq->desc;
	const uint16_t size = vq->size;
	const struct pvq_cursor head = vq->used;
	struct pvq_cursor cur = head;
	uint64_t head_word;
	uint32_t slots = 0;

	if (e == end)
		return;
	pvq_write_barrier(); /* B: payload before used words */
	head_word = pvq_packed_used_word(e, head.wrap);
	for (;;) {
		slots += e->ndesc;
		pvq_cursor_advance(&cur, e->ndesc, size);
		if (++e == end)
			break;
		pvq_publish(pvq_packed_word(&desc[cur.idx]), pvq_packed_used_word(e, cur.wrap));
	}
	if (dirty != NULL)
		pvq_packed_mark_used(vq, dirty, cur);
	pvq_publish(pvq_packed_word(&desc[head.idx]), head_word);
	pvq_dirty_mark(dirty, vq->desc_addr + head.idx * sizeof(*desc), sizeof(*desc));
	vq->used = cur;
	vq->taken -= slots;
	vq->nb_unsignalled += slots;
	vq->nb_shadow_used = 0;
}

/** Does the driver want a call for what was flushed since this was last asked? */
static inline bool
pvq_packed_must_call(struct pvq_packed_dev *vq)
{
	uint64_t count = vq->nb_unsignalled;

	if (count == 0)
		return false;
	vq->nb_unsignalled = 0;
	pvq_full_fence(); /* C: used words before the driver's wish is read */
	return pvq_packed_event_passed(pvq_load(pvq_packed_event_word(vq->driver_event)),
			vq->event_idx, vq->used, count, vq->size);
}

/** Tell the driver that the ring is polled. */
static inline void
pvq_packed_disable_kick(struct pvq_packed_dev *vq, const struct pvq_dirty *dirty)
{
	pvq_store(pvq_packed_event_word(vq->device_event),
			(uint32_t)VRING_PACKED_EVENT_FLAG_DISABLE << 16);
	pvq_dirty_mark(dirty, vq->device_addr, sizeof(*vq->device_event));
}

/** Ask the driver for a kick with the next buffer.
 *  @return true: wait for it; false: a buffer is there already, and its kick may never come.
 */
static inline bool
pvq_packed_enable_kick(struct pvq_packed_dev *vq, const struct pvq_dirty *dirty)
{
	uint16_t flags = vq->event_idx ? VRING_PACKED_EVENT_FLAG_DESC
				       : VRING_PACKED_EVENT_FLAG_ENABLE;
	uint64_t word;

	pvq_store(pvq_packed_event_word(vq->device_event), pvq_packed_event_make(vq->avail, flags));
	pvq_dirty_mark(dirty, vq->device_addr, sizeof(*vq->device_event));
	pvq_full_fence(); /* D: armed before the ring is looked at again */
	word = pvq_load(pvq_packed_word(&vq->desc[vq->avail.idx]));
	return !pvq_packed_is_avail(word, vq->avail.wrap);
}

#endif /* PVQ_PACKED_DEV_H */
