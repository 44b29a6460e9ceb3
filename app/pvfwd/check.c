/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "options.h"
#include "pvfwd.h"

/* Whether this instance makes packets of its own, as --txpkts says. */
static bool
makes_packets(const struct pvfwd_config *cfg)
{
	return cfg->engine->tx && (!cfg->engine->rx || cfg->tx_first > 0);
}

static int
check_mode(const struct pvfwd_config *cfg)
{
	const char *mode = cfg->engine->name;
	bool forwards = cfg->engine->rx && cfg->engine->tx;

	if (forwards && cfg->rxq != cfg->txq) {
		pvfwd_error("--rxq=%" PRId64 " --txq=%" PRId64 ": %s needs as many Rx as Tx queues",
				cfg->rxq, cfg->txq, mode);
		return -1;
	}
	if ((cfg->packets > 0 || cfg->duration > 0) && (cfg->engine->rx || !cfg->engine->tx)) {
		pvfwd_error("--%s: only with --forward-mode=txonly, not %s",
				cfg->packets > 0 ? "packets" : "duration", mode);
		return -1;
	}
	if (cfg->tx_first > 0 && !forwards) {
		pvfwd_error("--tx-first: only with --forward-mode=io or mac, not %s", mode);
		return -1;
	}
	return 0;
}

static int
check_packet(struct pvfwd_config *cfg)
{
	unsigned int room = cfg->mbuf_size - RTE_PKTMBUF_HEADROOM, i;

	if (!makes_packets(cfg))
		return 0;
	for (i = 0; i < cfg->nb_segs; i++) {
		if (cfg->seg_len[i] > room) {
			pvfwd_error("--txpkts: a segment of %u bytes does not fit an mbuf of %u: "
				    "split it, or raise --mbuf-size",
					cfg->seg_len[i], room);
			return -1;
		}
	}
	if (cfg->max_pkt_len != PVFWD_AUTO && cfg->pkt_len > cfg->max_pkt_len) {
		pvfwd_error("--max-pkt-len=%" PRId64 ": --txpkts makes packets of %u bytes",
				cfg->max_pkt_len, cfg->pkt_len);
		return -1;
	}
	if (cfg->pkt_len > RTE_ETHER_MAX_LEN)
		cfg->max_pkt_len = RTE_MAX(cfg->max_pkt_len, cfg->pkt_len);
	return 0;
}

int
pvfwd_options_check(struct pvfwd_config *cfg)
{
	return check_mode(cfg) < 0 || check_packet(cfg) < 0 ? -1 : 0;
}
