/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * Making packets: for txonly, and for --tx-first.
 */

#ifndef PVFWD_MAKE_H
#define PVFWD_MAKE_H

#include <stdbool.h>
#include <stdint.h>

struct pvfwd_stream;

/** Prepare a stream whose ports, flows and session are set. */
void pvfwd_make_init(struct pvfwd_stream *s);

/**
 * Make n packets (1 to the stream's burst) with the next sequence numbers and hold them.
 * False if the pool has too few mbufs left: then nothing has changed.
 */
bool pvfwd_make(struct pvfwd_stream *s, uint16_t n);

#endif
