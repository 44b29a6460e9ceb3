/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * The command line. Everything here works before, and without, EAL.
 */

#ifndef PVFWD_OPTIONS_H
#define PVFWD_OPTIONS_H

struct pvfwd_config;

/**
 * Set the defaults, then parse argv[1] … argv[argc - 1], the words after the "--".
 * Returns 0, or -1 after one line on stderr that names the wrong word.
 */
int pvfwd_options_parse(struct pvfwd_config *cfg, int argc, char **argv);

/**
 * See that the options go together, each being right by itself; part of parsing. Raises
 * max_pkt_len to the length of the packets that are made here. Returns 0, or -1 after one line.
 */
int pvfwd_options_check(struct pvfwd_config *cfg);

/** Print the usage text to stdout. */
void pvfwd_options_help(void);

#endif
