/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef COMPARE_H
#define COMPARE_H

/** Set the cards in @p files side by side: a table on stdout and compare-NAME.svg in @p dir for
 *  each experiment among them.
 *  @return the exit status
 */
int compare_run(char *const *files, unsigned int nb_files, const char *dir);

#endif /* COMPARE_H */
