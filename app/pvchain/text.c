/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <inttypes.h>
#include <stdio.h>

#include "text.h"

const char *
text_count(char text[static TEXT_COUNT], uint64_t value)
{
	char digits[TEXT_COUNT];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *to = text;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}
