/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVU_MSG_H
#define PVU_MSG_H

/* The wire format of vhost-user and nothing else. All numbers are in native byte order. A payload
 * may lie at any address in a receive buffer: structures are copied out of it, never cast onto it.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/vhost_types.h>

/* Header flags: version in the lowest two bits. */
#define PVU_VERSION 0x1u
#define PVU_VERSION_MASK 0x3u
#define PVU_REPLY 0x4u
#define PVU_NEED_REPLY 0x8u

struct pvu_hdr {
	uint32_t request;
	uint32_t flags;
	uint32_t size; /* of the payload that follows */
};
static_assert(sizeof(struct pvu_hdr) == 12, "header layout");

/* Virtio feature bit that says: protocol features can be asked for. */
#define PVU_F_PROTOCOL_FEATURES (UINT64_C(1) << 30)

/* Protocol features. */
#define PVU_PROTO_MQ (UINT64_C(1) << 0)
#define PVU_PROTO_LOG_SHMFD (UINT64_C(1) << 1)
#define PVU_PROTO_REPLY_ACK (UINT64_C(1) << 3)
#define PVU_PROTO_MTU (UINT64_C(1) << 4)
#define PVU_PROTO_CONFIG (UINT64_C(1) << 9)
#define PVU_PROTO_RESET_DEVICE (UINT64_C(1) << 13)
#define PVU_PROTO_STATUS (UINT64_C(1) << 16)

enum pvu_request_nr {
	PVU_GET_FEATURES = 1,
	PVU_SET_FEATURES = 2,
	PVU_SET_OWNER = 3,
	PVU_RESET_OWNER = 4,
	PVU_SET_MEM_TABLE = 5,
	PVU_SET_LOG_BASE = 6,
	PVU_SET_LOG_FD = 7,
	PVU_SET_VRING_NUM = 8,
	PVU_SET_VRING_ADDR = 9,
	PVU_SET_VRING_BASE = 10,
	PVU_GET_VRING_BASE = 11,
	PVU_SET_VRING_KICK = 12,
	PVU_SET_VRING_CALL = 13,
	PVU_SET_VRING_ERR = 14,
	PVU_GET_PROTOCOL_FEATURES = 15,
	PVU_SET_PROTOCOL_FEATURES = 16,
	PVU_GET_QUEUE_NUM = 17,
	PVU_SET_VRING_ENABLE = 18,
	PVU_SEND_RARP = 19,
	PVU_NET_SET_MTU = 20,
	PVU_SET_BACKEND_REQ_FD = 21,
	PVU_IOTLB_MSG = 22,
	PVU_SET_VRING_ENDIAN = 23,
	PVU_GET_CONFIG = 24,
	PVU_SET_CONFIG = 25,
	PVU_CREATE_CRYPTO_SESSION = 26,
	PVU_CLOSE_CRYPTO_SESSION = 27,
	PVU_POSTCOPY_ADVISE = 28,
	PVU_POSTCOPY_LISTEN = 29,
	PVU_POSTCOPY_END = 30,
	PVU_GET_INFLIGHT_FD = 31,
	PVU_SET_INFLIGHT_FD = 32,
	PVU_GPU_SET_SOCKET = 33,
	PVU_RESET_DEVICE = 34,
	PVU_VRING_KICK = 35,
	PVU_GET_MAX_MEM_SLOTS = 36,
	PVU_ADD_MEM_REG = 37,
	PVU_REM_MEM_REG = 38,
	PVU_SET_STATUS = 39,
	PVU_GET_STATUS = 40,
	PVU_GET_SHARED_OBJECT = 41,
	PVU_SET_DEVICE_STATE_FD = 42,
	PVU_CHECK_DEVICE_STATE = 43,
	PVU_NR_REQUESTS
};

/* SET_VRING_KICK, _CALL and _ERR: a u64 of ring index and "no descriptor comes with this". */
#define PVU_FD_INDEX_MASK UINT64_C(0xff)
#define PVU_FD_NONE (UINT64_C(1) << 8)

/* Payloads the kernel has, too: {index, num}, and {index, flags, desc, used, avail, log}. */
static_assert(sizeof(struct vhost_vring_state) == 8, "ring state layout");
static_assert(sizeof(struct vhost_vring_addr) == 40, "ring address layout");
static_assert(offsetof(struct vhost_vring_addr, used_user_addr) == 16, "ring address layout");

/* SET_MEM_TABLE: this header, then one pvu_mem_region for each descriptor. */
struct pvu_mem_hdr {
	uint32_t count;
	uint32_t padding;
};
static_assert(sizeof(struct pvu_mem_hdr) == 8, "memory table layout");

struct pvu_mem_region {
	uint64_t guest_addr;
	uint64_t size;
	uint64_t user_addr;
	uint64_t offset; /* of the region in its file */
};
static_assert(sizeof(struct pvu_mem_region) == 32, "memory region layout");

/* GET_CONFIG and SET_CONFIG: this header, then size bytes. */
struct pvu_config_hdr {
	uint32_t offset;
	uint32_t size;
	uint32_t flags;
};
static_assert(sizeof(struct pvu_config_hdr) == 12, "configuration layout");

#define PVU_MAX_CONFIG 256

/* The largest payload of any request that is understood here. */
#define PVU_MAX_PAYLOAD (sizeof(struct pvu_config_hdr) + PVU_MAX_CONFIG)
static_assert(PVU_MAX_PAYLOAD >= sizeof(struct pvu_mem_hdr) + 8 * sizeof(struct pvu_mem_region),
		"memory table does not fit");

#endif /* PVU_MSG_H */
