/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <string.h>

#include "packet.h"

#define UDP_DISCARD 9
#define BENCHMARK_NET 0xc6120000u /* 198.18.0.0, set aside for this by RFC 2544 */

uint8_t pvfwd_pattern_table[PVFWD_PATTERN_STARTS + PVFWD_MAX_LEN];

void
pvfwd_pattern_init(void)
{
	uint32_t x = 0x9e3779b9;
	size_t i;

	/* xorshift32: the same bytes in every process, on every machine */
	for (i = 0; i < sizeof(pvfwd_pattern_table); i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		pvfwd_pattern_table[i] = x >> 24;
	}
}

void
pvfwd_head_init(struct pvfwd_head *head, uint16_t flow, uint32_t pkt_len)
{
	uint16_t ip_len = pkt_len - sizeof(head->eth);

	head->eth.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);

	memset(&head->ip, 0, sizeof(head->ip));
	head->ip.version_ihl = RTE_IPV4_VHL_DEF;
	head->ip.total_length = rte_cpu_to_be_16(ip_len);
	head->ip.fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	head->ip.time_to_live = 64;
	head->ip.next_proto_id = IPPROTO_UDP;
	head->ip.src_addr = rte_cpu_to_be_32(BENCHMARK_NET + 1);
	head->ip.dst_addr = rte_cpu_to_be_32(BENCHMARK_NET + 2);
	head->ip.hdr_checksum = rte_ipv4_cksum(&head->ip);

	head->udp.src_port = pvfwd_flow_port(flow);
	head->udp.dst_port = rte_cpu_to_be_16(UDP_DISCARD);
	head->udp.dgram_len = rte_cpu_to_be_16(ip_len - sizeof(head->ip));
	head->udp.dgram_cksum = 0; /* none, as IPv4 allows */

	head->stamp.magic = PVFWD_MAGIC;
}
