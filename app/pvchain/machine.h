/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef MACHINE_H
#define MACHINE_H

/** What a figure was measured on. */
struct machine {
	char arch[65];
	char kernel[65];
	char cpu[128];          /**< the model; "" where the kernel does not name it */
	unsigned int nb_online; /**< CPUs */
};

void machine_describe(struct machine *machine);

#endif /* MACHINE_H */
