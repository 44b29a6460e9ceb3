/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_PACKED_RIG_H
#define PVQ_PACKED_RIG_H

/**
 * @file
 * Both real halves of a packed ring, on guarded memory, and buffers whose shape and content follow
 * from their number alone: so each side can tell what the other should have sent.
 *
 * Slots are counted from 0 up and never wrap, as in pvq_driver.h.
 */

#include "pvq_driver.h"
#include "pvq_packed_drv.h"

#define RIG_EVENT_IDX 1u
#define RIG_IN_ORDER 2u
#define RIG_INDIRECT 4u
#define RIG_ALL_FLAGS 7u

/* Where the parts are for the device. */
#define RIG_DESC_ADDR 0x10000000u
#define RIG_DRIVER_ADDR 0x20000000u
#define RIG_DEVICE_ADDR 0x30000000u
#define RIG_TABLES_ADDR 0x40000000u
#define RIG_DATA_ADDR 0x50000000u

#define RIG_MAX_SEGS 8 /**< of a numbered buffer */
#define RIG_SEG_BYTES 8

/** A numbered buffer that the device has; its token. */
struct pvq_rig_sent {
	uint64_t seq;
	uint16_t at; /**< its place in the data */
};

struct pvq_rig {
	struct pvq_packed_drv drv;
	struct pvq_packed_dev dev;
	struct vring_packed_desc *desc;
	struct vring_packed_desc_event *driver_event;
	struct vring_packed_desc_event *device_event;
	struct vring_packed_desc *tables; /**< NULL without RIG_INDIRECT */
	uint64_t *data;                   /**< RIG_MAX_SEGS words for each of size buffers */
	struct pvq_rig_sent *sent;        /**< size entries, by place */
	uint16_t *free_at;                /**< places that are free */
	uint16_t nfree_at;
	struct pvq_segs segs;
	struct pvq_mem mem;
	struct pvq_mem_region region[5];
	uint64_t start; /**< slots passed before */
	unsigned int flags;
	uint16_t size;
};

/** Set both halves up, on memory full of rubbish, with the slot @p start as their first. */
void pvq_rig_init(struct pvq_rig *rig, uint16_t size, uint64_t start, unsigned int flags);
void pvq_rig_fini(struct pvq_rig *rig);

/** Set both halves up anew, on the same memory. */
void pvq_rig_restart(struct pvq_rig *rig, uint16_t size, uint64_t start);

/** Run @p fn on rings of every size that is worth it, with all sets of flags, from the first and
 *  the last slot of each of two laps.
 */
void pvq_rig_each(void (*fn)(struct pvq_rig *rig));

/** The cursor of slot @p pos on a ring of @p size. */
struct pvq_cursor pvq_rig_cursor(uint16_t size, uint64_t pos);

static inline void *
pvq_rig_token(uint64_t n)
{
	return (void *)(uintptr_t)(n + 1);
}

/** @p n segments of 60 bytes, of which the first @p nread are to be read. */
const struct pvq_seg *pvq_rig_segs(uint16_t n, uint16_t nread);

/** Slots that a buffer of @p nsegs segments takes. */
uint16_t pvq_rig_slots(const struct pvq_rig *rig, uint16_t nsegs);

/** Device: take the next buffer. */
int pvq_rig_take(struct pvq_rig *rig, struct pvq_chain *chain);

/** Device: give one back at once. */
void pvq_rig_use(struct pvq_rig *rig, const struct pvq_chain *chain, uint32_t len);

/** Device: take and give back all there is. @return how many */
unsigned int pvq_rig_serve(struct pvq_rig *rig, uint32_t len);

/** Device that misbehaves: any used entry at slot @p pos. */
void pvq_rig_write_used(struct pvq_rig *rig, uint64_t pos, uint32_t id, uint32_t len);

/** Add a buffer, and have it given back, @p n times. */
void pvq_rig_pass(struct pvq_rig *rig, uint64_t n, uint16_t nsegs);

/** Driver: put buffer number @p seq, of at most @p max segments, with what the device is to read.
 *  @return what pvq_packed_put() says
 */
int pvq_rig_send(struct pvq_rig *rig, uint64_t seq, uint16_t max);

/** Slots that buffer number @p seq takes. */
uint16_t pvq_rig_sent_slots(const struct pvq_rig *rig, uint64_t seq, uint16_t max);

/** Device: is @p chain buffer number @p seq? Checks what is to be read, writes all the rest.
 *  @return bytes written, or -1
 */
int64_t pvq_rig_answer(
		struct pvq_rig *rig, uint64_t seq, uint16_t max, const struct pvq_chain *chain);

/** Driver: take the next numbered buffer back, and check that it was answered.
 *  @return 1, 0: none, -1: something is wrong with it
 */
int pvq_rig_receive(struct pvq_rig *rig, uint16_t max, uint64_t *seq);

#endif /* PVQ_PACKED_RIG_H */
