/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

/** May this process run on @p cpu? */
bool place_usable(unsigned int cpu);

/** Choose two CPUs: on cores of their own as far as there are any; alike when there is one. */
void place_default(unsigned int cpu[2]);

#endif /* PLACE_H */
