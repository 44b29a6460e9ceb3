/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"

enum {
	/* Two rings' worth of the largest ring, with its buffers. */
	ARENA_SIZE = 8 << 20,
	/* Lines are fetched in pairs on some processors, and 128 bytes long on others. */
	ARENA_ALIGN = 256,
};

static uint8_t *arena;
static size_t used = ARENA_SIZE;

void
arena_reset(void)
{
	if (arena == NULL) {
		arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		if (arena == MAP_FAILED)
			err(EXIT_FAILURE, "no memory for the rings");
	}
	memset(arena, 0, used);
	used = 0;
}

void *
arena_get(size_t size)
{
	void *mem = arena + used;

	size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	if (size > ARENA_SIZE - used)
		errx(EXIT_FAILURE, "no memory for the rings");
	used += size;
	return mem;
}

void
arena_extent(uint8_t **start, size_t *size)
{
	*start = arena;
	*size = ARENA_SIZE;
}
