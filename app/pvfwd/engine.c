/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <string.h>

#include "engine.h"
#include "pvfwd.h"

static const struct pvfwd_engine *const engines[] = {
	&pvfwd_engine_io,
	&pvfwd_engine_mac,
	&pvfwd_engine_rxonly,
	&pvfwd_engine_txonly,
};

const struct pvfwd_engine *
pvfwd_engine_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(engines); i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}
