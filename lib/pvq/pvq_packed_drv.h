/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_PACKED_DRV_H
#define PVQ_PACKED_DRV_H

/**
 * @file
 * The driver half of a packed virtqueue (virtio 1.2, section 2.8).
 *
 * Verbs: *put* writes a buffer that the device does not see yet, *publish* shows it all that has
 * been put, *add* does both, *must_kick* says whether it wants to be told; *next_used* takes back
 * the next buffer that it is done with. *disable_cb*, *enable_cb* and *enable_cb_delayed* are the
 * driver's side of call suppression; *poll* asks whether anything has been used since a position.
 *
 * One thread at a time works on a ring. A device that names a buffer it does not have breaks the
 * ring: *broken* is set, nothing more is added, taken or polled for, until it is set up anew.
 */

#include "pvq_event.h"
#include "pvq_order.h"
#include "pvq_packed.h"

/** A buffer that the device has, by its id. */
struct pvq_packed_lent {
	void *token;
	uint32_t writable; /**< bytes the device may write */
	uint16_t ndesc;    /**< slots it takes; 0: the device has no such buffer */
	uint16_t next;     /**< the next free id; IN_ORDER: the next id, free or not */
};

struct pvq_packed_drv {
	struct vring_packed_desc *desc;
	struct pvq_cursor avail; /**< next slot to fill */
	struct pvq_cursor used;  /**< next slot to see a used entry in */
	uint16_t size;
	uint16_t nb_free;  /**< slots that are free */
	uint16_t free_id;  /**< first free id, valid while there is a free slot */
	uint16_t oldest;   /**< IN_ORDER: id of the buffer that the device has longest */
	uint16_t detached; /**< detach_unused: smaller ids are done with */
	uint16_t table_segs;
	bool event_idx;
	bool in_order;
	bool broken;
	bool use_wrap_counter; /**< see pvq_packed_poll(); may be changed at any time */
	bool unpublished;      /**< head_word is still to be written, to slot head_idx */
	bool batch;            /**< IN_ORDER: batch_last and those before it are used */
	uint16_t head_idx;
	uint16_t batch_last; /**< id */
	uint32_t batch_len;  /**< what the device wrote into batch_last */
	uint32_t wraps;      /**< laps of *used* while use_wrap_counter was set */
	uint32_t event;      /**< what driver_event holds: shared memory is not read back */
	uint64_t head_word;
	uint64_t nb_unkicked;         /**< slots filled since must_kick was last asked */
	struct pvq_packed_lent *lent; /**< size entries */
	struct vring_packed_desc_event *driver_event; /**< written by the driver: calls */
	struct vring_packed_desc_event *device_event; /**< written by the device: kicks */
	struct vring_packed_desc *tables; /**< size tables of table_segs entries, by id, or NULL */
	uint64_t tables_addr;
};

/** Where a ring is and how it is set up. */
struct pvq_packed_drv_conf {
	struct vring_packed_desc *desc;               /**< 16-byte aligned */
	struct vring_packed_desc_event *driver_event; /**< 4-byte aligned */
	struct vring_packed_desc_event *device_event; /**< 4-byte aligned */
	uint16_t size;                                /**< slots, 1..PVQ_MAX_SIZE */
	struct pvq_cursor base; /**< first slot to fill; slot 0 and wrap 1 for a fresh ring */
	bool event_idx;         /**< VIRTIO_RING_F_EVENT_IDX is negotiated */
	bool in_order;          /**< VIRTIO_F_IN_ORDER is negotiated */
	struct vring_packed_desc *tables; /**< VIRTIO_RING_F_INDIRECT_DESC: size * table_segs
					   *   entries for buffers of 2 segments or more; or NULL */
	uint64_t tables_addr;             /**< of tables, as the device sees them */
	uint16_t table_segs;              /**< entries of one table, at most size (2.8.19) */
};

/** Set up a ring. Its memory is cleared, as far as a fresh ring asks for it, and calls are on.
 *  @return 0, -EINVAL for a size, base or table size outside its range, -ENOMEM.
 */
int pvq_packed_drv_init(struct pvq_packed_drv *vq, const struct pvq_packed_drv_conf *conf);

/** Free what pvq_packed_drv_init() allocated. */
void pvq_packed_drv_fini(struct pvq_packed_drv *vq);

/** Write a buffer to the ring; pvq_packed_publish() shows it to the device.
 *
 *  A buffer of 2 .. table_segs segments takes a table and one slot, any other a slot a segment.
 *
 *  @param segs what the device may read first, then what it may write (2.8.5)
 *  @param token what pvq_packed_next_used() is to return, not NULL
 *  @return 0; -ENOSPC: not enough slots are free; -EINVAL: no segments, or in the wrong order, or
 *          2^32 bytes and more; -EIO: the ring is broken. Unless 0, nothing has changed.
 */
int pvq_packed_put(struct pvq_packed_drv *vq, const struct pvq_seg *segs, uint16_t n, void *token);

/** Show the device all that has been put: bodies first, the head's flags of the first buffer last
 *  (2.8.21), so that it sees all buffers at once.
 */
static inline void
pvq_packed_publish(struct pvq_packed_drv *vq)
{
	if (!vq->unpublished)
		return;
	/* A: pairs with the device's acquire on the head's flags */
	pvq_store_release(pvq_packed_word(&vq->desc[vq->head_idx]), vq->head_word);
	vq->unpublished = false;
}

/** pvq_packed_put(), published at once. */
static inline int
pvq_packed_add(struct pvq_packed_drv *vq, const struct pvq_seg *segs, uint16_t n, void *token)
{
	int ret = pvq_packed_put(vq, segs, n, token);

	if (ret == 0)
		pvq_packed_publish(vq);
	return ret;
}

/** Does the device want a kick for what was published since this was last asked? */
static inline bool
pvq_packed_must_kick(struct pvq_packed_drv *vq)
{
	uint64_t count = vq->nb_unkicked;

	if (count == 0 || vq->broken)
		return false;
	vq->nb_unkicked = 0;
	pvq_full_fence(); /* D: what was published before the device's wish is read */
	return pvq_packed_event_passed(pvq_load(pvq_packed_event_word(vq->device_event)),
			vq->event_idx, vq->avail, count, vq->size);
}

/** Slots that are free: a buffer without a table takes one for each of its segments. */
static inline uint16_t
pvq_packed_capacity(const struct pvq_packed_drv *vq)
{
	return vq->nb_free;
}

/** Take the buffer with @p id back; the driver's part of a used entry. */
static inline void *
pvq_packed_take_back(struct pvq_packed_drv *vq, uint16_t id, const bool count_wraps)
{
	struct pvq_packed_lent *lent = &vq->lent[id];
	uint16_t ndesc = lent->ndesc;

	lent->ndesc = 0;
	/* In order, ids go round and round, and the list of all of them stays as it is. */
	if (!vq->in_order) {
		lent->next = vq->free_id;
		vq->free_id = id;
	}
	vq->nb_free += ndesc;
	if (count_wraps && vq->used.idx + ndesc >= vq->size)
		vq->wraps++;
	pvq_cursor_advance(&vq->used, ndesc, vq->size);
	return lent->token;
}

/** The next buffer of a ring with VIRTIO_F_IN_ORDER: one used entry may stand for several. */
void *pvq_packed_next_in_order(struct pvq_packed_drv *vq, uint32_t *len, bool count_wraps);

/** Ask for a call with the next used buffer, if calls are asked for by position at all. */
static inline void
pvq_packed_follow_event(struct pvq_packed_drv *vq)
{
	if (vq->event >> 16 != VRING_PACKED_EVENT_FLAG_DESC)
		return;
	vq->event = pvq_packed_event_make(vq->used, VRING_PACKED_EVENT_FLAG_DESC);
	pvq_store(pvq_packed_event_word(vq->driver_event), vq->event);
	pvq_full_fence(); /* C: armed before the ring is looked at again */
}

/** As pvq_packed_next_used(), which says with @p count_wraps what use_wrap_counter asks for. */
static inline void *
pvq_packed_take_used(struct pvq_packed_drv *vq, uint32_t *len, const bool count_wraps)
{
	uint64_t word;
	uint16_t id;
	void *token;

	if (vq->broken)
		return NULL;
	if (vq->in_order)
		return pvq_packed_next_in_order(vq, len, count_wraps);
	/* B: pairs with the device's write barrier before its used words */
	word = pvq_load_acquire(pvq_packed_word(&vq->desc[vq->used.idx]));
	if (!pvq_packed_is_used(word, vq->used.wrap))
		return NULL;
	id = pvq_packed_word_id(word);
	if (__builtin_expect(id >= vq->size || vq->lent[id].ndesc == 0, 0)) {
		vq->broken = true;
		return NULL;
	}
	*len = pvq_packed_word_len(word);
	if (*len > vq->lent[id].writable)
		*len = vq->lent[id].writable;
	token = pvq_packed_take_back(vq, id, count_wraps);
	pvq_packed_follow_event(vq);
	return token;
}

/** Take the next buffer back that the device is done with.
 *  @param len out: bytes written into it, never more than there is room for
 *  @return its token, or NULL: there is none, or the ring is broken
 */
static inline void *
pvq_packed_next_used(struct pvq_packed_drv *vq, uint32_t *len)
{
	return pvq_packed_take_used(vq, len, vq->use_wrap_counter);
}

/** A position for pvq_packed_poll(): opaque, but for what is said there. */
static inline uint32_t
pvq_packed_position(const struct pvq_packed_drv *vq)
{
	return vq->wraps << 16 | pvq_cursor_pack(vq->used);
}

/** Has a buffer been used since the driver was at @p position?
 *
 *  The position holds the slot and its wrap counter, which are the same again two laps later. A
 *  driver that may take back that many buffers between the two calls sets use_wrap_counter: then
 *  it holds the number of the lap as well, and looks the same again after 65,536 laps only.
 *
 *  @return false on a broken ring, always: there is nothing to wait for.
 */
static inline bool
pvq_packed_poll(const struct pvq_packed_drv *vq, uint32_t position)
{
	if (vq->broken)
		return false;
	return position != pvq_packed_position(vq) || vq->batch ||
	       pvq_packed_is_used(
			       pvq_load(pvq_packed_word(&vq->desc[vq->used.idx])), vq->used.wrap);
}

/** Ask for no calls. */
void pvq_packed_disable_cb(struct pvq_packed_drv *vq);

/** Ask for a call with the next used buffer.
 *  @return true: wait for it; false: one is used already, and its call may never come
 */
bool pvq_packed_enable_cb(struct pvq_packed_drv *vq);

/** Ask for a call when 3/4 of the buffers that the device has are used; without EVENT_IDX, with
 *  the next one.
 *  @return as pvq_packed_enable_cb()
 */
bool pvq_packed_enable_cb_delayed(struct pvq_packed_drv *vq);

/** Take a buffer back that the device has not used. Only when the device has stopped, and all
 *  used buffers have been taken; to be repeated to the end, which leaves the ring as if they had
 *  never been put.
 *  @return its token, or NULL: the device has none any more
 */
void *pvq_packed_detach_unused(struct pvq_packed_drv *vq);

#endif /* PVQ_PACKED_DRV_H */
