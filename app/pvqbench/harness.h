/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef HARNESS_H
#define HARNESS_H

#include "card.h"

/** Run the variants of an experiment in turn, round by round.
 *  @param all_bursts run with each burst of the experiment that the ring can hold
 *  @return whether every buffer came as it was sent; what did not is said on stderr
 */
bool harness_run(const struct experiment *exp, const struct params *params, bool all_bursts,
		struct card *card);

#endif /* HARNESS_H */
