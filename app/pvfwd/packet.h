/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * The packets that txonly makes and rxonly checks.
 *
 * The first 64 bytes are headers and a stamp; what follows is a window of a fixed pseudo-random
 * table, chosen by flow and sequence number. So a packet holds nothing that its stamp does not
 * determine, and neighbours differ everywhere: a wrong byte and a stale buffer are both seen.
 */

#ifndef PVFWD_PACKET_H
#define PVFWD_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#define PVFWD_MAGIC 0x5056 /* "VP" */
/** Smallest packet: the headers and the stamp. Lengths are without CRC, as testpmd's. */
#define PVFWD_MIN_LEN 64
#define PVFWD_MAX_LEN 65535
/** Sequence numbers are this wide; the session number takes the bits above. */
#define PVFWD_SEQ_BITS 48
#define PVFWD_SEQ_MASK ((UINT64_C(1) << PVFWD_SEQ_BITS) - 1)

/** In host byte order: the TSC makes sense on one machine only. */
struct pvfwd_stamp {
	uint16_t magic;
	uint16_t flow;
	uint16_t check; /**< over flow, seq and tsc */
	uint64_t seq;   /**< session << 48 | sequence number, from 0 in each flow */
	uint64_t tsc;   /**< when the packet was made */
} __rte_packed;

struct pvfwd_head {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct pvfwd_stamp stamp;
} __rte_packed __rte_aligned(2);

_Static_assert(sizeof(struct pvfwd_head) == PVFWD_MIN_LEN, "the stamp must fit 64 bytes");

/** Bytes that flow and sequence number may shift the window by; a power of two. */
#define PVFWD_PATTERN_STARTS 4096
extern uint8_t pvfwd_pattern_table[PVFWD_PATTERN_STARTS + PVFWD_MAX_LEN];

/** Fill the pattern table; once, before anything else here is used. */
void pvfwd_pattern_init(void);

/** Fill in the headers (not the MAC addresses) of a packet of pkt_len bytes of the flow. */
void pvfwd_head_init(struct pvfwd_head *head, uint16_t flow, uint32_t pkt_len);

/** UDP source port of a flow, in network order: what tells the flows apart on the wire. */
static inline rte_be16_t
pvfwd_flow_port(uint16_t flow)
{
	return rte_cpu_to_be_16(flow);
}

/** The bytes that follow the head in the packet with this stamp. */
static inline const uint8_t *
pvfwd_pattern(uint16_t flow, uint64_t seq)
{
	uint32_t hash = ((uint32_t)seq + flow * 40503u) * 2654435761u;

	return &pvfwd_pattern_table[hash >> 20];
}

static inline uint16_t
pvfwd_stamp_check(uint16_t flow, uint64_t seq, uint64_t tsc)
{
	uint64_t h = (seq ^ flow) * UINT64_C(0x9e3779b97f4a7c15);

	h = ((h ^ (h >> 32)) + tsc) * UINT64_C(0xd6e8feb86659fd93);
	return (h >> 48) ^ (h >> 16) ^ flow;
}

static inline bool
pvfwd_stamp_ok(const struct pvfwd_stamp *stamp)
{
	return stamp->check == pvfwd_stamp_check(stamp->flow, stamp->seq, stamp->tsc);
}

/** Stamp a head whose other fields are filled in. */
static inline void
pvfwd_stamp_set(struct pvfwd_head *head, uint16_t flow, uint64_t seq, uint64_t tsc)
{
	head->udp.src_port = pvfwd_flow_port(flow);
	head->stamp.flow = flow;
	head->stamp.check = pvfwd_stamp_check(flow, seq, tsc);
	head->stamp.seq = seq;
	head->stamp.tsc = tsc;
}

#endif
