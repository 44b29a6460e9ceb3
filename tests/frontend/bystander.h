/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef BYSTANDER_H
#define BYSTANDER_H

/**
 * @file
 * A second port with a good frontend, whose traffic and control a thread keeps an eye on while
 * something is done to the first.
 */

#include "flow.h"

/** Make the port and its frontend, and begin to send and receive. */
void bystander_start(void);

/** Has it gone on, and is its socket answered? */
bool bystander_lives(void);

/** Stop, and check that there was no pause, and no packet harmed. */
void bystander_stop(void);

#endif /* BYSTANDER_H */
