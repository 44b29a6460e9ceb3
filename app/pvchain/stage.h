/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef STAGE_H
#define STAGE_H

/** The instances, in the order in which packets pass them. */
enum stage {
	SENDER,
	MIDDLE,
	RECEIVER,
	NB_STAGES,
};

static inline const char *
stage_name(enum stage stage)
{
	static const char *const names[] = { "sender", "middle", "receiver" };

	return names[stage];
}

#endif /* STAGE_H */
