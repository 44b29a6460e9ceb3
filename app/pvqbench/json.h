/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef JSON_H
#define JSON_H

#include "card.h"

/** Write a card to a file. @return 0, or -1 with errno */
int json_write(const char *file, const struct card *card);

/** Read a card that json_write() wrote, here or elsewhere.
 *  @param wrong what is wrong with the file, if anything is
 *  @return 0 or -1
 */
int json_read(const char *file, struct card *card, char *wrong, size_t size);

#endif /* JSON_H */
