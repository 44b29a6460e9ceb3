/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_PACKED_H
#define PVQ_PACKED_H

/**
 * @file
 * What both halves of a packed virtqueue share: positions, flags, words.
 * Virtio 1.2, section 2.8 "Packed Virtqueues".
 */

#include "pvq_chain.h"

#define PVQ_F_AVAIL (1u << VRING_PACKED_DESC_F_AVAIL)
#define PVQ_F_USED (1u << VRING_PACKED_DESC_F_USED)

_Static_assert(sizeof(struct vring_packed_desc) == 16, "2.8.13 The Virtqueue Descriptor Table");
_Static_assert(offsetof(struct vring_packed_desc, len) == 8, "len, id and flags are one word");
_Static_assert(sizeof(struct vring_packed_desc_event) == 4, "2.8.14 Event Suppression Structure");

/** A position in a packed ring: a slot, and the wrap counter of the lap it is met on (2.8.1). */
struct pvq_cursor {
	uint16_t idx;
	bool wrap;
};

/** Move @p c on by @p n slots, 0 <= n <= @p size. The only wrap arithmetic there is. */
static inline void
pvq_cursor_advance(struct pvq_cursor *c, uint16_t n, uint16_t size)
{
	uint32_t idx = (uint32_t)c->idx + n;

	if (__builtin_expect(idx >= size, 0)) {
		idx -= size;
		c->wrap = !c->wrap;
	}
	c->idx = idx;
}

/** A cursor in the 16 bits that event suppression (2.8.14) and vhost-user use. */
static inline uint16_t
pvq_cursor_pack(struct pvq_cursor c)
{
	return c.idx | (uint16_t)c.wrap << VRING_PACKED_EVENT_F_WRAP_CTR;
}

/** The reverse of pvq_cursor_pack(). The slot may be beyond the ring: check it. */
static inline struct pvq_cursor
pvq_cursor_unpack(uint16_t v)
{
	return (struct pvq_cursor){
		.idx = v & ~(1u << VRING_PACKED_EVENT_F_WRAP_CTR),
		.wrap = v >> VRING_PACKED_EVENT_F_WRAP_CTR,
	};
}

/** Slots from @p from on to @p to, 0 .. 2 * @p size - 1: two laps look alike, three do not. */
static inline uint32_t
pvq_cursor_distance(struct pvq_cursor from, struct pvq_cursor to, uint16_t size)
{
	uint32_t lap = 2u * size;
	uint32_t a = from.idx + (from.wrap ? 0 : size);
	uint32_t b = to.idx + (to.wrap ? 0 : size);

	return (b + lap - a % lap) % lap;
}

/** AVAIL and USED of a descriptor that is available on a lap with wrap counter @p wrap. */
static inline uint16_t
pvq_packed_avail_flags(bool wrap)
{
	return wrap ? PVQ_F_AVAIL : PVQ_F_USED;
}

/** AVAIL and USED of a descriptor that is used on a lap with wrap counter @p wrap. */
static inline uint16_t
pvq_packed_used_flags(bool wrap)
{
	return wrap ? PVQ_F_AVAIL | PVQ_F_USED : 0;
}

/** The aligned 8-byte word {len, id, flags} of a descriptor. */
static inline uint64_t *
pvq_packed_word(struct vring_packed_desc *desc)
{
	return (uint64_t *)(void *)&desc->len;
}

static inline uint64_t
pvq_packed_word_make(uint32_t len, uint16_t id, uint16_t flags)
{
	return len | (uint64_t)id << 32 | (uint64_t)flags << 48;
}

static inline uint32_t
pvq_packed_word_len(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint16_t
pvq_packed_word_id(uint64_t word)
{
	return (uint16_t)(word >> 32);
}

static inline uint16_t
pvq_packed_word_flags(uint64_t word)
{
	return (uint16_t)(word >> 48);
}

/** Is the descriptor with @p word available on a lap with wrap counter @p wrap? */
static inline bool
pvq_packed_is_avail(uint64_t word, bool wrap)
{
	return (pvq_packed_word_flags(word) & (PVQ_F_AVAIL | PVQ_F_USED)) ==
	       pvq_packed_avail_flags(wrap);
}

/** Is the descriptor with @p word used on a lap with wrap counter @p wrap? */
static inline bool
pvq_packed_is_used(uint64_t word, bool wrap)
{
	return (pvq_packed_word_flags(word) & (PVQ_F_AVAIL | PVQ_F_USED)) ==
	       pvq_packed_used_flags(wrap);
}

#endif /* PVQ_PACKED_H */
