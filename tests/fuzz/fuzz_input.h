/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

/* From the fuzzer's bytes to payloads and descriptors. */

#include "pvu_peer.h"

#define FUZZ_NR_RINGS 4
#define FUZZ_MEM 0x20000u
#define FUZZ_USER UINT64_C(0x7000000000)
#define FUZZ_FEATURES                                                                              \
	(UINT64_C(1) << 15 | UINT64_C(1) << 28 | UINT64_C(1) << 29 | UINT64_C(0xf) << 32)

struct input {
	const uint8_t *at;
	size_t left;
};

/* Two files that a frontend may share. */
extern struct peer_mem fuzz_mem[2];

/* The next one or two bytes, 0 when there are none left. */
uint8_t fuzz_byte(struct input *in);
uint32_t fuzz_word(struct input *in);
/* A new descriptor of one kind or another. */
int fuzz_fd(uint8_t choice);
/* A payload for @p request that has a chance to be taken. @return its size */
uint32_t fuzz_payload(struct input *in, uint32_t request, uint8_t *payload);
/* How many descriptors that payload should have with it. */
unsigned int fuzz_nfds(uint32_t request, const uint8_t *payload);

#endif /* FUZZ_INPUT_H */
