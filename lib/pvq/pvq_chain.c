/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>

#include "pvq_chain.h"

int
pvq_chain_append(struct pvq_chain *chain, struct pvq_segs *segs, struct pvq_seg seg)
{
	if (segs->n == segs->cap)
		return -EINVAL;
	segs->seg[segs->n++] = seg;
	chain->nsegs++;
	return 1;
}

int64_t
pvq_segs_writable(const struct pvq_seg *segs, uint16_t n)
{
	uint64_t readable = 0, writable = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (segs[i].write)
			writable += segs[i].len;
		else if (i > 0 && segs[i - 1].write)
			return -EINVAL;
		else
			readable += segs[i].len;
	}
	/* 2.7.5, 2.8.6: no chain is longer than 2^32 bytes; a used length could not tell. */
	return n == 0 || readable + writable > UINT32_MAX ? -EINVAL : (int64_t)writable;
}
