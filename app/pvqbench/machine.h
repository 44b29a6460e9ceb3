/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef MACHINE_H
#define MACHINE_H

/** What figures depend on. */
struct machine {
	char cpu[96];
	char arch[24];
	char kernel[96];
	char compiler[128];
	char flags[256];
	long page_size;
	unsigned int nb_cpus;
	unsigned int cpus[2]; /**< of the driver and of the device */
	/* 1: yes; 0: no; -1: not known */
	int same_core;
	int shared_l2;
	int shared_l3;
};

/** Describe this machine, with the threads on these CPUs. */
void machine_describe(struct machine *machine, const unsigned int cpus[2]);

#endif /* MACHINE_H */
