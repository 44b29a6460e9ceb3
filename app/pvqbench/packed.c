/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdlib.h>

#include "arena.h"
#include "packed.h"

struct packed *
packed_new(const struct params *params, bool event_idx)
{
	const uint16_t size = (uint16_t)params->ring;
	struct pvq_packed_drv_conf drv = { .size = size, .event_idx = event_idx };
	struct pvq_packed_dev_conf dev = { .size = size, .event_idx = event_idx };
	struct packed *p;

	arena_reset();
	p = arena_get(sizeof(*p));
	p->singles = arena_get(size * sizeof(p->singles[0]));
	drv.desc = arena_get(size * sizeof(drv.desc[0]));
	drv.driver_event = arena_get(sizeof(drv.driver_event[0]));
	drv.device_event = arena_get(sizeof(drv.device_event[0]));
	drv.base = (struct pvq_cursor){ .idx = 0, .wrap = true };
	dev.desc = drv.desc;
	dev.driver_event = drv.driver_event;
	dev.device_event = drv.device_event;
	dev.base = drv.base;
	dev.mem = &p->mem;
	if (pvq_packed_drv_init(&p->drv, &drv) != 0 || pvq_packed_dev_init(&p->dev, &dev) != 0)
		errx(EXIT_FAILURE, "cannot set up a packed ring of %u slots", size);
	return p;
}

void
packed_free(struct packed *p)
{
	pvq_packed_dev_fini(&p->dev);
	pvq_packed_drv_fini(&p->drv);
}
