/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdlib.h>

#include "arena.h"
#include "split.h"

struct split *
split_new(const struct params *params, bool event_idx)
{
	const uint16_t size = (uint16_t)params->ring;
	struct pvq_split_drv_conf drv = { .size = size, .event_idx = event_idx };
	struct pvq_split_dev_conf dev = { .size = size, .event_idx = event_idx };
	struct split *s;

	arena_reset();
	s = arena_get(sizeof(*s));
	s->singles = arena_get(size * sizeof(s->singles[0]));
	drv.desc = arena_get(size * sizeof(drv.desc[0]));
	drv.avail_ring = arena_get(pvq_split_avail_bytes(size, true));
	drv.used_ring = arena_get(pvq_split_used_bytes(size, true));
	dev.desc = drv.desc;
	dev.avail_ring = drv.avail_ring;
	dev.used_ring = drv.used_ring;
	dev.mem = &s->mem;
	if (pvq_split_drv_init(&s->drv, &drv) != 0 || pvq_split_dev_init(&s->dev, &dev) != 0)
		errx(EXIT_FAILURE, "cannot set up a split ring of %u entries", size);
	return s;
}

void
split_free(struct split *s)
{
	pvq_split_drv_fini(&s->drv);
}
