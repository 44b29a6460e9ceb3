/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef ARENA_H
#define ARENA_H

/**
 * @file
 * Memory for rings and buffers: the same pages for every run, so that no variant is favoured by
 * where its ring happens to lie.
 */

#include <stddef.h>
#include <stdint.h>

/** Take all back and make it zeroes. */
void arena_reset(void);

/** @return @p size bytes, zero, on cache lines of their own */
void *arena_get(size_t size);

/** All the memory that arena_get() gives out. */
void arena_extent(uint8_t **start, size_t *size);

#endif /* ARENA_H */
