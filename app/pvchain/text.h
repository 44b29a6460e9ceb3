/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

enum { TEXT_COUNT = 32 };

/** Write 1234567 as 1,234,567. Returns text. */
const char *text_count(char text[static TEXT_COUNT], uint64_t value);

#endif /* TEXT_H */
