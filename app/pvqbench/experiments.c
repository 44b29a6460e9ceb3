/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stddef.h>
#include <string.h>

#include "experiment.h"
#include "experiments.h"

const struct experiment *const experiments[] = {
	&exp_shadow,
	&exp_flush,
	&exp_event_idx,
	&exp_vq_access,
	&exp_wrap_poll,
	&exp_limit,
	&exp_null,
	NULL,
};

const struct experiment *
experiment_find(const char *name)
{
	for (unsigned int i = 0; experiments[i] != NULL; i++) {
		if (strcmp(experiments[i]->name, name) == 0)
			return experiments[i];
	}
	return NULL;
}
