/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_EVENT_H
#define PVQ_EVENT_H

/**
 * @file
 * Kick and call suppression of the packed device half (virtio 1.2, sections 2.8.10 and 2.8.14).
 *
 * An event suppression structure {off_wrap, flags} is one aligned 4-byte word and is read and
 * written as one.
 */

#include "pvq_packed_dev.h"

static inline uint32_t *
pvq_event_word(struct vring_packed_desc_event *event)
{
	return (uint32_t *)(void *)event;
}

static inline uint32_t
pvq_event_word_make(uint16_t off_wrap, uint16_t flags)
{
	return off_wrap | (uint32_t)flags << 16;
}

/** Does the driver want a call for what was flushed since this was last asked? */
static inline bool
pvq_packed_must_call(struct pvq_packed_dev *vq)
{
	uint32_t used = vq->nb_unsignalled;
	struct pvq_cursor event;
	uint32_t word;

	if (used == 0)
		return false;
	vq->nb_unsignalled = 0;
	pvq_full_fence(); /* C: used words before the driver's wish is read */
	word = pvq_load(pvq_event_word(vq->driver_event));
	switch (word >> 16) {
	case VRING_PACKED_EVENT_FLAG_DISABLE:
		return false;
	case VRING_PACKED_EVENT_FLAG_DESC:
		if (!vq->event_idx)
			return true;
		event = pvq_cursor_unpack((uint16_t)word);
		/* The slot asked for is one of the last @p used before vq->used, or ahead of it. */
		pvq_cursor_advance(&event, 1, vq->size);
		return pvq_cursor_distance(event, vq->used, vq->size) < used;
	default:
		return true;
	}
}

/** Tell the driver that the ring is polled. */
static inline void
pvq_packed_disable_kick(struct pvq_packed_dev *vq)
{
	pvq_store(pvq_event_word(vq->device_event),
			pvq_event_word_make(0, VRING_PACKED_EVENT_FLAG_DISABLE));
}

/** Ask the driver for a kick with the next buffer.
 *  @return true: wait for it; false: a buffer is there already, and its kick may never come.
 */
static inline bool
pvq_packed_enable_kick(struct pvq_packed_dev *vq)
{
	uint16_t flags = vq->event_idx ? VRING_PACKED_EVENT_FLAG_DESC
				       : VRING_PACKED_EVENT_FLAG_ENABLE;
	uint64_t word;

	pvq_store(pvq_event_word(vq->device_event),
			pvq_event_word_make(pvq_cursor_pack(vq->avail), flags));
	pvq_full_fence(); /* D: armed before the ring is looked at again */
	word = pvq_load(pvq_packed_word(&vq->desc[vq->avail.idx]));
	return (pvq_packed_word_flags(word) & (PVQ_F_AVAIL | PVQ_F_USED)) !=
	       pvq_packed_avail_flags(vq->avail.wrap);
}

#endif /* PVQ_EVENT_H */
