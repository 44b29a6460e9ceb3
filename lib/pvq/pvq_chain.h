/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_CHAIN_H
#define PVQ_CHAIN_H

/**
 * @file
 * Buffers: what all four halves, split and packed, device and driver, hand over.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_ring.h>

/** Largest ring of either format (virtio 1.2, 2.7 and 2.8.10.1). */
#define PVQ_MAX_SIZE 32768

#define PVQ_F_NEXT VRING_DESC_F_NEXT
#define PVQ_F_WRITE VRING_DESC_F_WRITE
#define PVQ_F_INDIRECT VRING_DESC_F_INDIRECT

/** One contiguous piece of a buffer, in driver addresses. */
struct pvq_seg {
	uint64_t addr;
	uint32_t len;
	bool write; /**< the device may only write it; otherwise it may only read it */
};

/** One buffer: the private copy of a descriptor chain. */
struct pvq_chain {
	uint16_t id;    /**< what a used entry names: packed: the buffer id; split: the head */
	uint16_t ndesc; /**< ring descriptors it takes; a table is one */
	uint16_t nsegs; /**< valid entries of segs */
	struct pvq_seg *segs;
};

/** A buffer of one direct descriptor. */
struct pvq_single {
	uint64_t addr; /**< driver address */
	uint32_t len;
	uint16_t id;
};

/** Room for the segments of the chains that are worked on at one time. */
struct pvq_segs {
	struct pvq_seg *seg;
	uint32_t n;   /**< entries in use; the owner sets it to 0 when it is done with the chains */
	uint32_t cap; /**< entries there are; see pvq_segs_cap() */
};

/** The capacity of struct pvq_segs that a ring of @p size descriptors asks for: one buffer has at
 *  most @p size segments, and a packet over several buffers wants some more.
 */
static inline uint32_t
pvq_segs_cap(uint16_t size)
{
	return size < 512 ? 1024 : 2u * size;
}

/** Append a segment to @p chain. @return 1, or -EINVAL: there is no room for it */
int pvq_chain_append(struct pvq_chain *chain, struct pvq_segs *segs, struct pvq_seg seg);

/** How many bytes a device may write into a buffer; -EINVAL for what no driver may offer: no
 *  segment at all, or one to read behind one to write (2.7.4.2, 2.8.5), or 2^32 bytes and more.
 */
int64_t pvq_segs_writable(const struct pvq_seg *segs, uint16_t n);

#endif /* PVQ_CHAIN_H */
