/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_SPLIT_DEV_H
#define PVQ_SPLIT_DEV_H

/**
 * @file
 * The device half of a split virtqueue (virtio 1.2, section 2.7).
 *
 * The verbs are those of the packed ring (pvq_packed_dev.h). A used entry is written when it is
 * pushed: the driver does not look at it before the used index says so, and that is what
 * *flush_used* writes, once for the batch. The driver's index is read from shared memory only when
 * all that it was known to offer has been taken; the device's own is never read back.
 *
 * A driver whose index runs ahead by more than the ring holds breaks the ring: *broken* is set,
 * and nothing is taken any more.
 */

#include "pvq_dirty.h"
#include "pvq_event.h"
#include "pvq_mem.h"
#include "pvq_order.h"
#include "pvq_split.h"

struct pvq_split_dev {
	struct vring_desc *desc;
	struct vring_avail *avail_ring;
	struct vring_used *used_ring;
	uint16_t size;
	uint16_t avail;       /**< next entry of the available ring to take */
	uint16_t known_avail; /**< the driver's index, as it was last read */
	uint16_t used;        /**< the used index that the driver sees */
	uint16_t nb_pushed;   /**< used entries that it does not see yet */
	uint16_t taken;       /**< buffers taken and not given back yet, at most size */
	bool event_idx;       /**< VIRTIO_RING_F_EVENT_IDX is negotiated */
	bool broken;
	uint64_t nb_unsignalled; /**< buffers used since must_call was last asked */
	uint64_t used_addr;      /**< driver address of the used ring, for marks */
	struct pvq_mem_cache mem;
};

/** Where a ring is and how it is set up. */
struct pvq_split_dev_conf {
	struct vring_desc *desc;        /**< host address, 16-byte aligned */
	struct vring_avail *avail_ring; /**< host address, 2-byte aligned */
	struct vring_used *used_ring;   /**< host address, 4-byte aligned */
	uint16_t size;                  /**< a power of two, 1..PVQ_MAX_SIZE */
	uint16_t base;                  /**< first index to take and to use; 0 for a fresh ring */
	bool event_idx;
	const struct pvq_mem *mem; /**< must outlive the ring */
	uint64_t used_addr;        /**< of used_ring; only marks (pvq_dirty.h) need it */
};

/** Look the ring up in @p conf->mem, by driver addresses: once, when it is set up. When the table
 *  changes, do it again and set the ring up anew from where it was.
 *  @param conf in: size, event_idx and mem; out: all that has to do with where the ring is
 *  @return 0; -EINVAL: an address is not aligned (2.7); -EFAULT: a part, with its event index if
 *          there is one, is not wholly in one region
 */
int pvq_split_dev_place(struct pvq_split_dev_conf *conf, uint64_t desc_addr, uint64_t avail_addr,
		uint64_t used_addr);

/** Set up a ring; no shared memory is touched.
 *  @return 0, -EINVAL for a size that no split ring has.
 */
int pvq_split_dev_init(struct pvq_split_dev *vq, const struct pvq_split_dev_conf *conf);

/** Take the next available buffer of any shape: direct, chained, indirect (2.7.5, 2.7.13).
 *
 *  Its segments are appended to @p segs. A buffer that breaks the rules (endless chain, misshapen
 *  table, table outside memory, more segments than there is room for) is taken all the same: its
 *  id is valid, and the caller gives it back with length 0.
 *
 *  @return 1: @p chain is a buffer; 0: there is none, or the ring is broken; -EINVAL: a broken
 *          one; -ENXIO: one whose head is no descriptor of the ring. It is passed over, and there
 *          is nothing to give back.
 */
int pvq_split_next_avail(struct pvq_split_dev *vq, struct pvq_chain *chain, struct pvq_segs *segs);

/** Read the driver's index. @return how many buffers may be taken */
static inline uint16_t
pvq_split_read_avail(struct pvq_split_dev *vq)
{
	uint16_t n;

	vq->known_avail = pvq_load_acquire(&vq->avail_ring->idx); /* A: entries after the index */
	n = vq->known_avail - vq->avail;
	if (__builtin_expect(n > vq->size, 0))
		vq->broken = true;
	return n;
}

/** How many buffers may be taken. Looks at shared memory only when there seem to be none. */
static inline uint16_t
pvq_split_nb_avail(struct pvq_split_dev *vq)
{
	uint16_t room = vq->size - vq->taken;
	uint16_t n = vq->known_avail - vq->avail;

	if (n == 0)
		n = pvq_split_read_avail(vq);
	if (__builtin_expect(vq->broken, 0))
		return 0;
	return n < room ? n : room;
}

/** Take up to @p max available buffers, as long as they are of one direct descriptor whose WRITE
 *  flag is @p write.
 *  @return the number taken; 0 also when the next one is of another shape.
 */
static inline uint16_t
pvq_split_next_singles(struct pvq_split_dev *vq, struct pvq_single *out, uint16_t max, bool write)
{
	const uint16_t mask = PVQ_F_NEXT | PVQ_F_INDIRECT | PVQ_F_WRITE;
	const uint16_t want = write ? PVQ_F_WRITE : 0;
	uint16_t n = pvq_split_nb_avail(vq);
	uint16_t i;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		uint16_t at = (vq->avail + i) & (vq->size - 1);
		uint16_t head = pvq_load(&vq->avail_ring->ring[at]);
		uint64_t word;

		if (__builtin_expect(head >= vq->size, 0))
			break;
		word = pvq_load(pvq_split_word(&vq->desc[head]));
		if ((pvq_split_word_flags(word) & mask) != want)
			break;
		out[i].addr = pvq_load(&vq->desc[head].addr);
		out[i].len = pvq_split_word_len(word);
		out[i].id = head;
	}
	vq->avail += i;
	vq->taken += i;
	return i;
}

/** A place to come back to when the buffers taken since are not wanted after all. */
struct pvq_split_mark {
	uint16_t avail;
	uint16_t taken;
	uint16_t nb_pushed;
};

static inline struct pvq_split_mark
pvq_split_mark(const struct pvq_split_dev *vq)
{
	return (struct pvq_split_mark){
		.avail = vq->avail,
		.taken = vq->taken,
		.nb_pushed = vq->nb_pushed,
	};
}

/** Put all buffers back that were taken since @p mark, pushed or not. Nothing may have been
 *  flushed since.
 */
static inline void
pvq_split_rewind(struct pvq_split_dev *vq, struct pvq_split_mark mark)
{
	vq->avail = mark.avail;
	vq->taken = mark.taken;
	vq->nb_pushed = mark.nb_pushed;
}

/** Of the buffers that pvq_split_next_singles() took since @p mark, keep the first @p n only. */
static inline void
pvq_split_keep(struct pvq_split_dev *vq, struct pvq_split_mark mark, uint16_t n)
{
	pvq_split_rewind(vq, mark);
	vq->avail += n;
	vq->taken += n;
}

/** Write the used entry of a taken buffer; the driver does not see it yet.
 *  @param len bytes written into the buffer, 0 for one that the device only read
 */
static inline void
pvq_split_push_used(struct pvq_split_dev *vq, uint16_t id, uint32_t len)
{
	uint16_t at = (vq->used + vq->nb_pushed++) & (vq->size - 1);

	pvq_store_pair(&vq->used_ring->ring[at], id, len);
}

/** As pvq_split_push_used() for @p n buffers that pvq_split_next_singles() took.
 *  @param written their len says how much was written into them; otherwise it was nothing
 */
static inline void
pvq_split_push_singles(
		struct pvq_split_dev *vq, const struct pvq_single *buf, uint16_t n, bool written)
{
	for (uint16_t i = 0; i < n; i++)
		pvq_split_push_used(vq, buf[i].id, written ? buf[i].len : 0);
}

/** Say of all buffers pushed since @p mark that nothing was written into them. */
static inline void
pvq_split_empty_used(struct pvq_split_dev *vq, struct pvq_split_mark mark)
{
	for (uint16_t i = mark.nb_pushed; i < vq->nb_pushed; i++)
		pvq_store(&vq->used_ring->ring[(vq->used + i) & (vq->size - 1)].len, 0);
}

/** Mark the used entries that have been pushed. */
void pvq_split_mark_used(const struct pvq_split_dev *vq, const struct pvq_dirty *dirty);

/** Give all pushed buffers back: one release, one store of the index.
 *  @param dirty who is told of the writes, or the constant NULL
 */
static inline void
pvq_split_flush_used(struct pvq_split_dev *vq, const struct pvq_dirty *dirty)
{
	const uint16_t n = vq->nb_pushed;

	if (n == 0)
		return;
	if (dirty != NULL)
		pvq_split_mark_used(vq, dirty);
	vq->used += n;
	pvq_store_release(&vq->used_ring->idx, vq->used); /* B: payload and entries before it */
	pvq_dirty_mark(dirty, vq->used_addr + offsetof(struct vring_used, idx), sizeof(uint16_t));
	vq->taken -= n;
	vq->nb_unsignalled += n;
	vq->nb_pushed = 0;
}

/** Does the driver want a call for what was flushed since this was last asked? */
static inline bool
pvq_split_must_call(struct pvq_split_dev *vq)
{
	uint64_t count = vq->nb_unsignalled;
	uint16_t event;

	if (count == 0)
		return false;
	vq->nb_unsignalled = 0;
	pvq_full_fence(); /* C: the used index before the driver's wish is read */
	if (!vq->event_idx)
		return !(pvq_load(&vq->avail_ring->flags) & VRING_AVAIL_F_NO_INTERRUPT);
	event = pvq_load(pvq_split_used_event(vq->avail_ring, vq->size));
	return pvq_split_event_passed(event, vq->used, count);
}

/** Tell the driver that the ring is polled. With EVENT_IDX there is no way to say so (2.7.10): it
 *  is an event index that is never moved on.
 */
void pvq_split_disable_kick(struct pvq_split_dev *vq, const struct pvq_dirty *dirty);

/** Ask the driver for a kick with the next buffer.
 *  @return true: wait for it; false: a buffer is there already, and its kick may never come.
 */
bool pvq_split_enable_kick(struct pvq_split_dev *vq, const struct pvq_dirty *dirty);

#endif /* PVQ_SPLIT_DEV_H */
