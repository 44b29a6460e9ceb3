/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"

/** What became of the packets. */
struct result {
	uint64_t sent;      /**< accepted by the sender's port */
	uint64_t forwarded; /**< accepted by the middle's second port */
	uint64_t received;
	uint64_t verified; /**< of these, intact */
	uint64_t lost;     /**< sent and not received, wherever they stayed */
	uint64_t reordered;
	uint64_t duplicated;
	uint64_t corrupted;
	uint64_t foreign;         /**< received, but not from the sender */
	double mpps;              /**< the receiver's, from its first packet to its last */
	double gbps;              /**< of frames, without preamble, gap and checksum */
	double cycles[NB_STAGES]; /**< TSC cycles a packet */
	bool complete;            /**< every packet sent is accounted for */
};

void result_of(const struct chain *chain, struct result *res);

/** The process's exit status. */
int result_exit_status(const struct chain *chain, const struct result *res);

#endif /* RESULT_H */
