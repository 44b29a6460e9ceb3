/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef EXPERIMENTS_H
#define EXPERIMENTS_H

#include "experiment.h"

extern const struct experiment exp_shadow;
extern const struct experiment exp_flush;
extern const struct experiment exp_event_idx;
extern const struct experiment exp_vq_access;
extern const struct experiment exp_wrap_poll;
extern const struct experiment exp_limit;
extern const struct experiment exp_null;

#endif /* EXPERIMENTS_H */
