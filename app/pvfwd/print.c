/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats.h"

static double
gbps(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : bytes * 8.0 / ns;
}

void
pvfwd_stats_print_rates(const struct pvfwd_totals *from, const struct pvfwd_totals *to)
{
	uint64_t ns = to->ns - from->ns;
	uint16_t i;

	for (i = 0; i < pvfwd.nb_ports; i++) {
		const struct pvfwd_counters *a = &from->port[pvfwd.ports[i]];
		const struct pvfwd_counters *b = &to->port[pvfwd.ports[i]];

		printf("port %u: rx %.3f Mpps %.3f Gb/s, tx %.3f Mpps %.3f Gb/s, dropped %" PRIu64
		       "\n",
				pvfwd.ports[i], pvfwd_stats_mpps(b->rx_packets - a->rx_packets, ns),
				gbps(b->rx_bytes - a->rx_bytes, ns),
				pvfwd_stats_mpps(b->tx_packets - a->tx_packets, ns),
				gbps(b->tx_bytes - a->tx_bytes, ns), b->dropped - a->dropped);
	}
}

/* What a device could not deliver, only the device knows. */
static void
add_device(struct rte_eth_stats *sum, const struct rte_eth_stats *dev)
{
	sum->imissed += dev->imissed;
	sum->ierrors += dev->ierrors;
	sum->rx_nombuf += dev->rx_nombuf;
}

static void
print_rows(const struct pvfwd_counters *c, const struct rte_eth_stats *dev)
{
	printf("  RX-packets: %-14" PRIu64 " RX-dropped: %-14" PRIu64 " RX-total: %" PRIu64 "\n",
			c->rx_packets, dev->imissed, c->rx_packets + dev->imissed);
	if (dev->ierrors > 0 || dev->rx_nombuf > 0)
		printf("  RX-errors:  %-14" PRIu64 " RX-nombufs: %" PRIu64 "\n", dev->ierrors,
				dev->rx_nombuf);
	printf("  TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64 " TX-total: %" PRIu64 "\n",
			c->tx_packets, c->dropped, c->tx_packets + c->dropped);
	if (c->held > 0 || c->retries > 0)
		printf("  TX-retries: %-14" PRIu64 " TX-unsent:  %" PRIu64 "\n", c->retries,
				c->held);
}

static void
print_verify(const struct pvfwd_verify_counts *v)
{
	struct pvfwd_latency lat;

	printf("\n  Stamped: %" PRIu64 "  verified: %" PRIu64 "  corrupted: %" PRIu64
	       "  foreign: %" PRIu64 "\n  lost: %" PRIu64 "  duplicated: %" PRIu64
	       "  reordered: %" PRIu64 "\n",
			v->received, v->verified, v->corrupted, v->foreign, v->lost, v->duplicated,
			v->reordered);
	pvfwd_stats_latency(&lat);
	printf("  latency (ns): p50 %" PRIu64 "  p99 %" PRIu64 "  p99.9 %" PRIu64 "  max %" PRIu64
	       "\n",
			pvfwd_stats_cycles_to_ns(pvfwd_latency_quantile(&lat, 500)),
			pvfwd_stats_cycles_to_ns(pvfwd_latency_quantile(&lat, 990)),
			pvfwd_stats_cycles_to_ns(pvfwd_latency_quantile(&lat, 999)),
			pvfwd_stats_cycles_to_ns(lat.max));
}

void
pvfwd_stats_print_table(const struct pvfwd_totals *t)
{
	uint64_t packets = pvfwd_stats_packets(t), active = pvfwd_stats_active_ns(t);
	struct rte_eth_stats dev, sum = { 0 };
	uint16_t i;

	for (i = 0; i < pvfwd.nb_ports; i++) {
		uint16_t port = pvfwd.ports[i];

		if (rte_eth_stats_get(port, &dev) < 0)
			memset(&dev, 0, sizeof(dev));
		add_device(&sum, &dev);
		printf("\n  ------ Forward statistics for port %u ------\n", port);
		print_rows(&t->port[port], &dev);
	}
	printf("\n  ++++++ Forward statistics for all ports ++++++\n");
	print_rows(&t->all, &sum);
	if (!pvfwd.cfg.engine->tx)
		print_verify(&t->verify);
	printf("\n  %.3f Mpps over %.3f s, %.1f cycles/packet\n", pvfwd_stats_mpps(packets, active),
			active / 1e9, packets == 0 ? 0.0 : (double)t->all.cycles / packets);
}
