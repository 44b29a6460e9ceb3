/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef TABLE_H
#define TABLE_H

#include "card.h"

/** Print a card for people, with what was published below it. */
void table_print(const struct card *card, const char *published);

#endif /* TABLE_H */
