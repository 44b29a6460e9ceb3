/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "engine.h"
#include "tx.h"

static uint16_t
io_burst(struct pvfwd_stream *s)
{
	uint16_t n;

	if (unlikely(s->nb_held > 0))
		return pvfwd_tx_again(s);
	n = pvfwd_rx(s);
	return n == 0 ? 0 : n + pvfwd_tx(s);
}

const struct pvfwd_engine pvfwd_engine_io = {
	.name = "io",
	.rx = true,
	.tx = true,
	.burst = io_burst,
};
