/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_SPLIT_H
#define PVQ_SPLIT_H

/**
 * @file
 * What both halves of a split virtqueue share: where its parts are, and how its words are cut.
 * Virtio 1.2, section 2.7 "Split Virtqueues". Indices run freely through 16 bits; a ring's size is
 * a power of two, and an entry's place its index modulo the size.
 */

#include "pvq_chain.h"

_Static_assert(sizeof(struct vring_desc) == 16, "2.7.5 The Virtqueue Descriptor Table");
_Static_assert(offsetof(struct vring_desc, len) == 8, "len, flags and next are one word");
_Static_assert(sizeof(struct vring_used_elem) == 8, "id and len are one word");
_Static_assert(offsetof(struct vring_avail, ring) == 4, "2.7.6 The Virtqueue Available Ring");
_Static_assert(offsetof(struct vring_used, ring) == 4, "2.7.8 The Virtqueue Used Ring");

/** May a split ring have @p size entries (2.7)? */
static inline bool
pvq_split_size_ok(uint16_t size)
{
	return size != 0 && size <= PVQ_MAX_SIZE && (size & (size - 1)) == 0;
}

/** Bytes of an available ring, and its event index. */
static inline size_t
pvq_split_avail_bytes(uint16_t size, bool event_idx)
{
	return sizeof(struct vring_avail) + sizeof(uint16_t) * (size + (event_idx ? 1u : 0u));
}

/** Bytes of a used ring, and its event index. */
static inline size_t
pvq_split_used_bytes(uint16_t size, bool event_idx)
{
	return sizeof(struct vring_used) + sizeof(struct vring_used_elem) * size +
	       (event_idx ? sizeof(uint16_t) : 0);
}

/** Where the driver says which used entry it wants a call for (2.7.7). */
static inline uint16_t *
pvq_split_used_event(struct vring_avail *avail, uint16_t size)
{
	return &avail->ring[size];
}

/** Where the device says which available entry it wants a kick for (2.7.10). */
static inline uint16_t *
pvq_split_avail_event(struct vring_used *used, uint16_t size)
{
	return (uint16_t *)(void *)&used->ring[size];
}

/** The aligned 8-byte word {len, flags, next} of a descriptor. */
static inline uint64_t *
pvq_split_word(struct vring_desc *desc)
{
	return (uint64_t *)(void *)&desc->len;
}

static inline uint64_t
pvq_split_word_make(uint32_t len, uint16_t flags, uint16_t next)
{
	return len | (uint64_t)flags << 32 | (uint64_t)next << 48;
}

static inline uint32_t
pvq_split_word_len(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint16_t
pvq_split_word_flags(uint64_t word)
{
	return (uint16_t)(word >> 32);
}

static inline uint16_t
pvq_split_word_next(uint64_t word)
{
	return (uint16_t)(word >> 48);
}

#endif /* PVQ_SPLIT_H */
