/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * The table of forwarding modes, one engine a file.
 */

#ifndef PVFWD_ENGINE_H
#define PVFWD_ENGINE_H

struct pvfwd_engine;

extern const struct pvfwd_engine pvfwd_engine_io;
extern const struct pvfwd_engine pvfwd_engine_mac;
extern const struct pvfwd_engine pvfwd_engine_rxonly;
extern const struct pvfwd_engine pvfwd_engine_txonly;

/** The engine of that name, or NULL. */
const struct pvfwd_engine *pvfwd_engine_find(const char *name);

#endif
