/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_EVENT_H
#define PVQ_EVENT_H

/**
 * @file
 * Kick and call suppression: the arithmetic that both sides share. The verbs are each half's own:
 * must_call, enable_kick and disable_kick of the device; must_kick, enable_cb and disable_cb of
 * the driver.
 */

#include "pvq_packed.h"

/** Split ring (2.7.7, 2.7.10): has the event index been passed by the last @p count entries?
 *  @param event what the other side wrote
 *  @param now the index behind the newest entry
 *  @param count entries since this was last asked; more than a lap of the index: certainly
 */
static inline bool
pvq_split_event_passed(uint16_t event, uint16_t now, uint64_t count)
{
	return (uint16_t)(now - event - 1) < count;
}

/** An event suppression structure {off_wrap, flags} (2.8.14): one aligned 4-byte word, read and
 *  written as one.
 */
static inline uint32_t *
pvq_packed_event_word(struct vring_packed_desc_event *event)
{
	return (uint32_t *)(void *)event;
}

static inline uint32_t
pvq_packed_event_make(struct pvq_cursor c, uint16_t flags)
{
	return pvq_cursor_pack(c) | (uint32_t)flags << 16;
}

/** Packed ring (2.8.10, 2.8.14): is the event that @p word asks for among the last @p count slots?
 *  @param word what the other side wrote
 *  @param event_idx VIRTIO_RING_F_EVENT_IDX is negotiated
 *  @param now the slot behind the newest one
 *  @param count slots since this was last asked; more than two laps: certainly
 */
static inline bool
pvq_packed_event_passed(
		uint32_t word, bool event_idx, struct pvq_cursor now, uint64_t count, uint16_t size)
{
	struct pvq_cursor event;

	switch (word >> 16) {
	case VRING_PACKED_EVENT_FLAG_DISABLE:
		return false;
	case VRING_PACKED_EVENT_FLAG_DESC:
		if (!event_idx)
			return true;
		event = pvq_cursor_unpack((uint16_t)word);
		/* The slot asked for is one of the last @p count before now, or ahead of it. */
		pvq_cursor_advance(&event, 1, size);
		return pvq_cursor_distance(event, now, size) < count;
	default:
		return true;
	}
}

#endif /* PVQ_EVENT_H */
