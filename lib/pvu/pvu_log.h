/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVU_LOG_H
#define PVU_LOG_H

/**
 * @file
 * The dirty log of live migration: a bitmap that the frontend shares, one bit for each page of
 * 4096 bytes of its memory, by guest-physical address (vhost-user, "Migration").
 */

#include <stdint.h>

#define PVU_LOG_PAGE 4096

struct pvu_log {
	uint8_t *map;
	uint64_t size; /**< bytes of map */
};

/** Set the bits of the pages in which the @p len bytes from @p addr on lie; those beyond the log
 *  are ignored. Any number of threads may do so at once. Who sees a bit sees what was written
 *  before it was set.
 *  @param log a struct pvu_log: the signature is that of a callback
 */
void pvu_log_mark(void *log, uint64_t addr, uint64_t len);

#endif /* PVU_LOG_H */
