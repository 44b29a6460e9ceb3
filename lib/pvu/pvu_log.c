/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdatomic.h>

#include "pvu_log.h"

/* The frontend takes whole bytes or words of bits away, with an exchange. A bit that is found set
 * may be gone a moment later, and with it our mark; so what is written must be visible before the
 * bit is looked at, not only before it is set.
 */
static void
mark_page(struct pvu_log *log, uint64_t page)
{
	_Atomic uint8_t *byte = (_Atomic uint8_t *)&log->map[page / 8];
	uint8_t bit = 1u << (page % 8);

	if (!(atomic_load_explicit(byte, memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(byte, bit, memory_order_release);
}

void
pvu_log_mark(void *log, uint64_t addr, uint64_t len)
{
	struct pvu_log *l = log;
	uint64_t pages = l->size * 8;
	uint64_t last;

	if (len == 0)
		return;
	last = len - 1 > UINT64_MAX - addr ? UINT64_MAX : addr + len - 1;
	atomic_thread_fence(memory_order_seq_cst);
	for (uint64_t page = addr / PVU_LOG_PAGE; page <= last / PVU_LOG_PAGE && page < pages;
			page++)
		mark_page(l, page);
}
