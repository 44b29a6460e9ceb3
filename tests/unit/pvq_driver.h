/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_DRIVER_H
#define PVQ_DRIVER_H

/**
 * @file
 * A plain driver half of a packed ring, for the tests of the device half.
 *
 * It counts slots from 0 up and never wraps: slot n is met at n % size, with a wrap counter of 1
 * on even laps. That is all its arithmetic, none of it shared with the code under test. Its
 * memory ends at a page that cannot be touched and begins after a pattern that is checked.
 */

#include <CUnit/CUnit.h>

#include "pvq_packed_dev.h"

/** Run @p tests, which ends with CU_TEST_INFO_NULL. @return main()'s exit status */
int pvq_run_tests(const char *suite, CU_TestInfo *tests);

/** Next number of a sequence that @p state alone determines; it must not be 0. */
uint64_t pvq_rand(uint64_t *state);

/** @return a number of 0 .. @p n - 1 */
static inline uint32_t
pvq_rand_below(uint64_t *state, uint32_t n)
{
	return (pvq_rand(state) >> 16) % n;
}

/** Memory that ends where a page begins that faults. @p size is a multiple of its alignment. */
void *pvq_guarded_alloc(size_t size);

/** Free it, after a look at what lies before it. */
void pvq_guarded_free(void *mem, size_t size);

/** A buffer that the device gave back. */
struct pvq_driver_used {
	uint32_t len;
	uint16_t id;
	uint16_t ndesc; /**< slots it took; 0: no such buffer is with the device */
	uint16_t flags; /**< without AVAIL and USED */
};

struct pvq_driver {
	struct vring_packed_desc *desc;
	struct vring_packed_desc_event *driver_event;
	struct vring_packed_desc_event *device_event;
	uint64_t avail; /**< slots filled since the ring was fresh */
	uint64_t used;  /**< slots taken back since the ring was fresh */
	uint16_t *free_ids;
	uint16_t nfree_ids;
	uint16_t *ndesc; /**< by id: slots of the buffer that is with the device, or 0 */
	uint16_t size;
};

/** Set up a ring that has already passed @p start slots, all of them given back. */
void pvq_driver_init(struct pvq_driver *drv, uint16_t size, uint64_t start);
void pvq_driver_fini(struct pvq_driver *drv);

/** AVAIL and USED of an available and of a used descriptor at slot @p pos. */
uint16_t pvq_driver_avail_flags(const struct pvq_driver *drv, uint64_t pos);
uint16_t pvq_driver_used_flags(const struct pvq_driver *drv, uint64_t pos);

/** The cursor of slot @p pos. */
struct pvq_cursor pvq_driver_cursor(const struct pvq_driver *drv, uint64_t pos);

static inline struct vring_packed_desc *
pvq_driver_desc(const struct pvq_driver *drv, uint64_t pos)
{
	return &drv->desc[pos % drv->size];
}

/** Write slot @p pos, its flags last; @p flags are taken as they are. */
void pvq_driver_write(struct pvq_driver *drv, uint64_t pos, uint64_t addr, uint32_t len,
		uint16_t id, uint16_t flags);

/** Make a buffer of @p n slots available, its head last. @p flags go into each descriptor.
 *  @return its id, or -1: there are not so many free slots
 */
int pvq_driver_add(struct pvq_driver *drv, const struct pvq_seg *segs, uint16_t n, uint16_t flags);

/** Take the next buffer back. @return false: the device gave none back */
bool pvq_driver_poll(struct pvq_driver *drv, struct pvq_driver_used *used);

/** Both halves of one ring, and the driver's memory. */
struct pvq_pair {
	struct pvq_driver drv;
	struct pvq_packed_dev dev;
	struct pvq_segs segs; /**< as much room as the ring asks for */
	struct pvq_mem mem;
	struct pvq_mem_region region[3];
};

/** Set up both halves of a ring that has already passed @p start slots; no driver memory yet. */
void pvq_pair_init(struct pvq_pair *p, uint16_t size, uint64_t start, bool event_idx);
void pvq_pair_fini(struct pvq_pair *p);

/** Add a region of guarded driver memory, all zeroes. @return where it is */
void *pvq_pair_add_memory(struct pvq_pair *p, uint64_t addr, uint64_t size);

/** pvq_packed_next_avail() with all the room there is. */
static inline int
pvq_pair_take(struct pvq_pair *p, struct pvq_chain *chain)
{
	p->segs.n = 0;
	return pvq_packed_next_avail(&p->dev, chain, &p->segs);
}

#endif /* PVQ_DRIVER_H */
