/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef TABLE_H
#define TABLE_H

#include "chain.h"
#include "result.h"

/** Print the result for people, to stdout. */
void table_print(const struct chain *chain, const struct result *res);

/** Say on stderr why the run is no success, if it is none. */
void table_explain(const struct chain *chain, const struct result *res);

#endif /* TABLE_H */
