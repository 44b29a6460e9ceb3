/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * EAL's part of the command line.
 */

#ifndef PVFWD_EAL_H
#define PVFWD_EAL_H

/**
 * Start EAL with argv[0] … argv[argc - 1], and see that every --vdev became a port.
 * Returns 0, or -1 after one line on stderr that names the wrong word.
 */
int pvfwd_eal_start(int argc, char **argv);

/**
 * The port that became of a device as --vdev and --attach name it, "NAME,ARGS".
 * Returns 0, or -1 if there is none.
 */
int pvfwd_eal_port(const char *devargs, unsigned short *port);

#endif
