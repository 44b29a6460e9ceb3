/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdlib.h>

#include "result.h"

static double
cycles_per_packet(const struct report *report, enum stage stage)
{
	uint64_t packets = stage == SENDER ? report->tx_packets : report->rx_packets;

	return packets > 0 ? (double)report->cycles / (double)packets : 0;
}

/* The receiver cannot know of packets missing after the last that came; sent - received does. */
static uint64_t
count_lost(const struct result *res, uint64_t gaps)
{
	uint64_t arrived = res->received - res->duplicated;
	uint64_t missing = res->sent > arrived ? res->sent - arrived : 0;

	return missing > gaps ? missing : gaps;
}

void
result_of(const struct chain *chain, struct result *res)
{
	const struct report *tx = &chain->inst[SENDER].last, *rx = &chain->inst[RECEIVER].last;
	uint64_t wanted = chain->plan->opt->packets;

	*res = (struct result){
		.sent = tx->tx_packets,
		.forwarded = chain->inst[MIDDLE].last.tx_packets,
		.received = rx->verify.received,
		.verified = rx->verify.verified,
		.reordered = rx->verify.reordered,
		.duplicated = rx->verify.duplicated,
		.corrupted = rx->verify.corrupted,
		.foreign = rx->verify.foreign,
		.mpps = rx->mpps,
	};
	res->lost = count_lost(res, rx->verify.lost);
	if (rx->rx_packets > 0)
		res->gbps = rx->mpps * 8 * (double)rx->rx_bytes / (double)rx->rx_packets / 1000;
	for (int i = 0; i < NB_STAGES; i++)
		res->cycles[i] = cycles_per_packet(&chain->inst[i].last, i);
	res->complete = res->sent > 0 && res->sent == res->verified && res->lost == 0 &&
			res->reordered == 0 && res->duplicated == 0 && res->corrupted == 0 &&
			res->foreign == 0 && (wanted == 0 || wanted == res->sent);
}

int
result_exit_status(const struct chain *chain, const struct result *res)
{
	if (chain->failure[0] != '\0')
		return EXIT_FAILURE;
	if (chain->interrupted != 0)
		return 128 + chain->interrupted;
	return res->complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
