/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_SPLIT_DRV_H
#define PVQ_SPLIT_DRV_H

/**
 * @file
 * The driver half of a split virtqueue (virtio 1.2, section 2.7).
 *
 * The verbs are those of the packed ring (pvq_packed_drv.h). What the driver alone writes, its
 * index, its flags and the links of the descriptor table, it keeps in private fields and never
 * reads back: the device polls those lines, and each read would fetch them anew.
 *
 * One thread at a time works on a ring. A device that names a buffer it does not have, or whose
 * index runs ahead of what it was offered, breaks the ring: *broken* is set, nothing more is
 * added, taken or polled for, until it is set up anew.
 */

#include "pvq_event.h"
#include "pvq_order.h"
#include "pvq_split.h"

/** A descriptor: its link, and, while it is the head of a buffer that the device has, that one. */
struct pvq_split_lent {
	void *token;
	uint32_t writable; /**< bytes the device may write */
	uint16_t ndesc;    /**< descriptors it takes; 0: no head of such a buffer */
	uint16_t last;     /**< its last descriptor */
	uint16_t next;     /**< the next descriptor, of the buffer or of the free ones */
};

struct pvq_split_drv {
	struct vring_desc *desc;
	struct vring_avail *avail_ring;
	struct vring_used *used_ring;
	uint16_t size;
	uint16_t shadow_avail_idx;   /**< what the available index is, or is about to be */
	uint16_t shadow_avail_flags; /**< what the available flags are */
	uint16_t used;               /**< next entry of the used ring to take */
	uint16_t nb_free;            /**< descriptors that are free */
	uint16_t free_head;          /**< first free descriptor, valid while there is one */
	uint16_t nb_lent;            /**< buffers that the device has */
	uint16_t table_segs;
	uint16_t detached; /**< detach_unused: smaller heads are done with */
	bool event_idx;
	bool broken;
	bool use_wrap_counter; /**< see pvq_split_poll(); may be changed at any time */
	uint32_t wraps;        /**< how often *used* went round while use_wrap_counter was set */
	uint64_t nb_unkicked;  /**< buffers put since must_kick was last asked */
	struct pvq_split_lent *lent; /**< size entries */
	struct vring_desc *tables;   /**< size tables of table_segs entries, by head, or NULL */
	uint64_t tables_addr;
};

/** Where a ring is and how it is set up. */
struct pvq_split_drv_conf {
	struct vring_desc *desc;        /**< 16-byte aligned */
	struct vring_avail *avail_ring; /**< 2-byte aligned */
	struct vring_used *used_ring;   /**< 4-byte aligned */
	uint16_t size;                  /**< a power of two, 1..PVQ_MAX_SIZE */
	uint16_t base;                  /**< first index of both rings; 0 for a fresh ring */
	bool event_idx;                 /**< VIRTIO_RING_F_EVENT_IDX is negotiated */
	struct vring_desc *tables;      /**< VIRTIO_RING_F_INDIRECT_DESC: size * table_segs entries
					 *   for buffers of 2 segments or more; or NULL */
	uint64_t tables_addr;           /**< of tables, as the device sees them */
	uint16_t table_segs;            /**< entries of one table, at most size (2.7.5.3.1) */
};

/** Set up a ring. Its indices and flags are written, and calls are on.
 *  @return 0, -EINVAL for a size or table size outside its range, -ENOMEM.
 */
int pvq_split_drv_init(struct pvq_split_drv *vq, const struct pvq_split_drv_conf *conf);

/** Free what pvq_split_drv_init() allocated. */
void pvq_split_drv_fini(struct pvq_split_drv *vq);

/** Write a buffer to the ring; pvq_split_publish() shows it to the device.
 *
 *  A buffer of 2 .. table_segs segments takes a table and one descriptor, any other a descriptor
 *  a segment.
 *
 *  @param segs what the device may read first, then what it may write (2.7.4.2)
 *  @param token what pvq_split_next_used() is to return, not NULL
 *  @return 0; -ENOSPC: not enough descriptors are free; -EINVAL: no segments, or in the wrong
 *          order, or 2^32 bytes and more; -EIO: the ring is broken. Unless 0, nothing has changed.
 */
int pvq_split_put(struct pvq_split_drv *vq, const struct pvq_seg *segs, uint16_t n, void *token);

/** Show the device all that has been put (2.7.13.3). */
static inline void
pvq_split_publish(struct pvq_split_drv *vq)
{
	/* A: pairs with the device's acquire on the index */
	pvq_store_release(&vq->avail_ring->idx, vq->shadow_avail_idx);
}

/** pvq_split_put(), published at once. */
static inline int
pvq_split_add(struct pvq_split_drv *vq, const struct pvq_seg *segs, uint16_t n, void *token)
{
	int ret = pvq_split_put(vq, segs, n, token);

	if (ret == 0)
		pvq_split_publish(vq);
	return ret;
}

/** Does the device want a kick for what was published since this was last asked? */
static inline bool
pvq_split_must_kick(struct pvq_split_drv *vq)
{
	uint64_t count = vq->nb_unkicked;
	uint16_t event;

	if (count == 0 || vq->broken)
		return false;
	vq->nb_unkicked = 0;
	pvq_full_fence(); /* D: the available index before the device's wish is read */
	if (!vq->event_idx)
		return !(pvq_load(&vq->used_ring->flags) & VRING_USED_F_NO_NOTIFY);
	event = pvq_load(pvq_split_avail_event(vq->used_ring, vq->size));
	return pvq_split_event_passed(event, vq->shadow_avail_idx, count);
}

/** Descriptors that are free: a buffer without a table takes one for each of its segments. */
static inline uint16_t
pvq_split_capacity(const struct pvq_split_drv *vq)
{
	return vq->nb_free;
}

/** Take the buffer with head @p id back; the driver's part of a used entry. */
static inline void *
pvq_split_take_back(struct pvq_split_drv *vq, uint16_t id)
{
	struct pvq_split_lent *lent = &vq->lent[id];

	vq->lent[lent->last].next = vq->free_head;
	vq->free_head = id;
	vq->nb_free += lent->ndesc;
	vq->nb_lent--;
	lent->ndesc = 0;
	return lent->token;
}

/** How many buffers the device has given back. Breaks a ring whose device says nonsense. */
static inline uint16_t
pvq_split_nb_used(struct pvq_split_drv *vq)
{
	/* B: pairs with the device's release of the index */
	uint16_t n = pvq_load_acquire(&vq->used_ring->idx) - vq->used;

	if (__builtin_expect(n > vq->nb_lent, 0))
		vq->broken = true;
	return vq->broken ? 0 : n;
}

/** As pvq_split_next_used(), which says with @p count_wraps what use_wrap_counter asks for. */
static inline void *
pvq_split_take_used(struct pvq_split_drv *vq, uint32_t *len, const bool count_wraps)
{
	struct vring_used_elem *elem = &vq->used_ring->ring[vq->used & (vq->size - 1)];
	uint32_t id;
	void *token;

	if (pvq_split_nb_used(vq) == 0)
		return NULL;
	id = pvq_load(&elem->id);
	if (__builtin_expect(id >= vq->size || vq->lent[id].ndesc == 0, 0)) {
		vq->broken = true;
		return NULL;
	}
	*len = pvq_load(&elem->len);
	if (*len > vq->lent[id].writable)
		*len = vq->lent[id].writable;
	token = pvq_split_take_back(vq, id);
	vq->used++;
	if (count_wraps && vq->used == 0)
		vq->wraps++;
	if (vq->event_idx && !(vq->shadow_avail_flags & VRING_AVAIL_F_NO_INTERRUPT)) {
		pvq_store(pvq_split_used_event(vq->avail_ring, vq->size), vq->used);
		pvq_full_fence(); /* C: armed before the ring is looked at again */
	}
	return token;
}

/** Take the next buffer back that the device is done with (Linux says *get_buf*).
 *  @param len out: bytes written into it, never more than there is room for
 *  @return its token, or NULL: there is none, or the ring is broken
 */
static inline void *
pvq_split_next_used(struct pvq_split_drv *vq, uint32_t *len)
{
	return pvq_split_take_used(vq, len, vq->use_wrap_counter);
}

/** A position for pvq_split_poll(): opaque, but for what is said there. */
static inline uint32_t
pvq_split_position(const struct pvq_split_drv *vq)
{
	return vq->wraps << 16 | vq->used;
}

/** Has a buffer been used since the driver was at @p position?
 *
 *  The position holds the used index, which is the same again 65,536 buffers later. A driver that
 *  may take back that many between the two calls sets use_wrap_counter: then it holds the number
 *  of times the index went round as well, and looks the same again after 2^32 buffers only.
 *
 *  @return false on a broken ring, always: there is nothing to wait for.
 */
static inline bool
pvq_split_poll(const struct pvq_split_drv *vq, uint32_t position)
{
	if (vq->broken)
		return false;
	return position != pvq_split_position(vq) || pvq_load(&vq->used_ring->idx) != vq->used;
}

/** Ask for no calls. */
void pvq_split_disable_cb(struct pvq_split_drv *vq);

/** Ask for a call with the next used buffer.
 *  @return true: wait for it; false: one is used already, and its call may never come
 */
bool pvq_split_enable_cb(struct pvq_split_drv *vq);

/** Ask for a call when 3/4 of the buffers that the device has are used; without EVENT_IDX, with
 *  the next one.
 *  @return true: wait for it; false: as many are used already, and its call may never come
 */
bool pvq_split_enable_cb_delayed(struct pvq_split_drv *vq);

/** Take a buffer back that the device has not used. Only when the device has stopped, and all
 *  used buffers have been taken; to be repeated to the end, which leaves the ring as if they had
 *  never been put.
 *  @return its token, or NULL: the device has none any more
 */
void *pvq_split_detach_unused(struct pvq_split_drv *vq);

#endif /* PVQ_SPLIT_DRV_H */
