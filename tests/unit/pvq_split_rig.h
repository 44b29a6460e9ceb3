/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_SPLIT_RIG_H
#define PVQ_SPLIT_RIG_H

/**
 * @file
 * Both real halves of a split ring on guarded memory, and a driver that writes what it likes.
 */

#include "pvq_driver.h"
#include "pvq_split_dev.h"
#include "pvq_split_drv.h"

#define SPLIT_EVENT_IDX 1u
#define SPLIT_INDIRECT 2u
#define SPLIT_ALL_FLAGS 3u

/* Where the parts are for the device. */
#define SPLIT_DESC_ADDR 0x10000000u
#define SPLIT_AVAIL_ADDR 0x20000000u
#define SPLIT_USED_ADDR 0x30000000u
#define SPLIT_TABLES_ADDR 0x40000000u
#define SPLIT_DATA_ADDR 0x50000000u

#define SPLIT_TABLE_SEGS 8u
#define SPLIT_DATA_BYTES 4096u
#define SPLIT_GUARD 0xa5a5u /* behind the used ring, where there is no event index */

struct split_rig {
	struct pvq_split_drv drv;
	struct pvq_split_dev dev;
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	struct vring_desc *tables; /**< NULL without SPLIT_INDIRECT */
	uint8_t *data;
	struct pvq_segs segs;
	struct pvq_mem mem;
	struct pvq_mem_region region[5];
	unsigned int flags;
	uint16_t size;
	uint16_t table_segs;
};

/** Set both halves up, on memory full of rubbish, with @p base as their first index. */
void split_rig_init(struct split_rig *rig, uint16_t size, uint16_t base, unsigned int flags);
/** Free it all, and look at the guards. */
void split_rig_fini(struct split_rig *rig);

/** Run @p fn on rings of every size that is worth it, with all sets of flags, from the first
 *  index and from one that soon overflows.
 */
void split_rig_each(void (*fn)(struct split_rig *rig));

static inline void *
split_rig_token(uint64_t n)
{
	return (void *)(uintptr_t)(n + 1);
}

/** Bytes @p off.. of the data, as a driver that obeys the rules or does not describes them. */
void split_rig_desc(struct split_rig *rig, uint16_t i, uint64_t addr, uint32_t len, uint16_t flags,
		uint16_t next);
/** Make the chain at descriptor @p head available, unchecked. */
void split_rig_offer(struct split_rig *rig, uint16_t head);

/** Device: take the next buffer. */
int split_rig_take(struct split_rig *rig, struct pvq_chain *chain);
/** Device: take a buffer, which must be there, and give it back with @p len bytes. */
void split_rig_serve(struct split_rig *rig, uint32_t len);
/** Add a buffer of @p nsegs segments, and have it given back, @p n times. */
void split_rig_pass(struct split_rig *rig, uint64_t n, uint16_t nsegs);

/** @p n segments of 60 bytes, of which the first @p nread are to be read. */
const struct pvq_seg *split_rig_segs(uint16_t n, uint16_t nread);

/** Descriptors that a buffer of @p nsegs segments takes. */
static inline uint16_t
split_rig_slots(const struct split_rig *rig, uint16_t nsegs)
{
	return nsegs > 1 && nsegs <= rig->table_segs ? 1 : nsegs;
}

#endif /* PVQ_SPLIT_RIG_H */
