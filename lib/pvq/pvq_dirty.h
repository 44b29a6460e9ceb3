/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVQ_DIRTY_H
#define PVQ_DIRTY_H

/**
 * @file
 * Telling the owner which driver memory the device has written, for live migration.
 *
 * A verb that writes takes a const struct pvq_dirty *, or the constant NULL, with which the
 * compiler leaves all of this out. Marks follow the writes they are for: a migration that clears
 * a mark and copies the page between the two would otherwise lose the write. Buffers and the used
 * entries of a batch, its head's included, are marked before the driver can see the batch; the
 * one word that shows it is written then, and its page marked again.
 */

#include "pvq_chain.h"

/** Who is told. */
struct pvq_dirty {
	/** @p len bytes at driver address @p addr have been written. Whoever sees the mark must see
	 *  them: it is set by a release store, or a stronger one.
	 */
	void (*mark)(void *arg, uint64_t addr, uint64_t len);
	void *arg;
};

static inline void
pvq_dirty_mark(const struct pvq_dirty *dirty, uint64_t addr, uint64_t len)
{
	if (dirty != NULL)
		dirty->mark(dirty->arg, addr, len);
}

/** Mark the first @p len bytes that the writable ones of @p n segments hold. */
static inline void
pvq_dirty_segs(const struct pvq_dirty *dirty, const struct pvq_seg *segs, uint16_t n, uint64_t len)
{
	if (dirty == NULL)
		return;
	for (uint16_t i = 0; i < n && len > 0; i++) {
		uint64_t part = len < segs[i].len ? len : segs[i].len;

		if (!segs[i].write || part == 0)
			continue;
		pvq_dirty_mark(dirty, segs[i].addr, part);
		len -= part;
	}
}

#endif /* PVQ_DIRTY_H */
