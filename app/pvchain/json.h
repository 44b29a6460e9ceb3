/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef JSON_H
#define JSON_H

#include "chain.h"
#include "result.h"

/**
 * Write the result to a file, which appears complete or not at all.
 * Returns 0 or -1 with errno set.
 */
int json_write(const char *file, const struct chain *chain, const struct result *res);

#endif /* JSON_H */
