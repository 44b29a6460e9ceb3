/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fuzz_input.h"

struct peer_mem fuzz_mem[2];

uint8_t
fuzz_byte(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

uint32_t
fuzz_word(struct input *in)
{
	uint32_t value = fuzz_byte(in);

	return value | (uint32_t)fuzz_byte(in) << 8;
}

int
fuzz_fd(uint8_t choice)
{
	int fds[2];

	switch (choice % 6) {
	case 0:
	case 1:
		return dup(fuzz_mem[choice % 2].fd);
	case 2:
		return dup(STDIN_FILENO);
	case 3:
		if (pipe(fds) < 0)
			abort();
		close(fds[choice >> 4 & 1]);
		return fds[!(choice >> 4 & 1)];
	default:
		return eventfd(0, choice & 0x80 ? EFD_NONBLOCK : 0);
	}
}

/* A payload that has a chance: small numbers scaled to pages, addresses in the region. */
uint32_t
fuzz_payload(struct input *in, uint32_t request, uint8_t *payload)
{
	struct vhost_vring_state state = { .index = fuzz_byte(in) % (FUZZ_NR_RINGS + 1),
		.num = fuzz_word(in) };
	uint64_t u64 = fuzz_byte(in) & 1 ? FUZZ_FEATURES | UINT64_C(1) << 30
					 : UINT64_C(0x16219) ^ fuzz_byte(in);
	struct vhost_vring_addr addr = { .index = state.index };
	struct pvu_config_hdr config = { .flags = 0 };
	struct pvu_mem_region region;
	uint32_t i, count;

	switch (request) {
	case PVU_SET_MEM_TABLE:
		count = state.index % 4;
		memcpy(payload, &(struct pvu_mem_hdr){ .count = count }, 8);
		for (i = 0; i < count; i++) {
			region.guest_addr = (uint64_t)fuzz_byte(in) << 12;
			region.size = (uint64_t)(fuzz_byte(in) & 0x3f) << 12;
			region.user_addr = FUZZ_USER + ((uint64_t)fuzz_byte(in) << 12);
			region.offset = (uint64_t)(fuzz_byte(in) & 0x1f) << 12;
			memcpy(payload + 8 + i * sizeof(region), &region, sizeof(region));
		}
		return 8 + count * (uint32_t)sizeof(region);
	case PVU_SET_VRING_ADDR:
		addr.desc_user_addr = FUZZ_USER + 16 * (uint64_t)fuzz_word(in);
		addr.avail_user_addr = FUZZ_USER + 4 * (uint64_t)fuzz_word(in);
		addr.used_user_addr = FUZZ_USER + 4 * (uint64_t)fuzz_word(in);
		memcpy(payload, &addr, sizeof(addr));
		return sizeof(addr);
	case PVU_SET_VRING_KICK:
	case PVU_SET_VRING_CALL:
	case PVU_SET_VRING_ERR:
		u64 = state.index | (uint64_t) !(state.num & 7) << 8;
		break;
	case PVU_SET_VRING_NUM:
	case PVU_SET_VRING_BASE:
	case PVU_GET_VRING_BASE:
	case PVU_SET_VRING_ENABLE:
		state.num = request == PVU_SET_VRING_ENABLE ? state.num & 1 : state.num;
		memcpy(payload, &state, sizeof(state));
		return sizeof(state);
	case PVU_GET_CONFIG:
	case PVU_SET_CONFIG:
		config.offset = fuzz_byte(in);
		config.size = fuzz_byte(in);
		memcpy(payload, &config, sizeof(config));
		return (uint32_t)sizeof(config) + config.size;
	case PVU_SET_FEATURES:
	case PVU_SET_PROTOCOL_FEATURES:
		break;
	case PVU_SET_STATUS:
	case PVU_NET_SET_MTU:
		u64 = state.num;
		break;
	default:
		return 0;
	}
	memcpy(payload, &u64, sizeof(u64));
	return sizeof(u64);
}

unsigned int
fuzz_nfds(uint32_t request, const uint8_t *payload)
{
	if (request == PVU_SET_MEM_TABLE)
		return payload[0];
	return request >= PVU_SET_VRING_KICK && request <= PVU_SET_VRING_ERR && !(payload[1] & 1);
}
