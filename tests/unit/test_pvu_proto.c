/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What is negotiated, what is refused, and how a refusal is told. */

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pvu_owner.h"

static struct owner o;
static struct peer p;

static bool
still_answers(void)
{
	uint64_t features = 0;

	return peer_get_u64(&p, PVU_GET_FEATURES, &features) == 0 &&
	       features == (ALL_FEATURES | BIT(30));
}

static void
vm01_ring_index(void)
{
	static const uint32_t bad[] = { NR_RINGS, 256, 0x10000, 0x10001, 0x80000000, UINT32_MAX };
	static const uint32_t state[] = { PVU_SET_VRING_NUM, PVU_SET_VRING_BASE,
		PVU_SET_VRING_ENABLE };
	struct vhost_vring_addr addr = { 0 };
	unsigned int i, j;
	uint64_t word;
	uint32_t num;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		owner_ready(&o, &p, F_PACKED, 0x10000);
		for (j = 0; j < ARRAY_LEN(state); j++)
			CU_ASSERT_EQUAL(peer_ask_state(&p, state[j], bad[i], 1), 1);
		addr.index = bad[i];
		CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 1);
		for (j = PVU_SET_VRING_KICK; j <= PVU_SET_VRING_ERR; j++) {
			word = bad[i] | PVU_FD_NONE | UINT64_C(1) << 40;
			CU_ASSERT_EQUAL(peer_ask_u64(&p, j, word), 1);
		}
		CU_ASSERT_TRUE(still_answers());
		/* Nothing but the end can tell that there is no base. */
		CU_ASSERT_EQUAL(peer_get_base(&p, bad[i], &num), PEER_CLOSED);
		owner_done(&o, &p);
	}
}

static void
vm03_header(void)
{
	struct pvu_hdr hdr = { PVU_GET_FEATURES, PVU_VERSION, 0 };
	static const uint32_t flags[] = { 0, 2, 3, PVU_VERSION | PVU_REPLY };
	unsigned int before = peer_count_fds(), i;
	int fds[20];

	for (i = 0; i < ARRAY_LEN(flags); i++) {
		owner_open(&o, &p);
		hdr.flags = flags[i];
		peer_send_bytes(&p, &hdr, sizeof(hdr), NULL, 0);
		CU_ASSERT_TRUE(peer_is_closed(&p));
		owner_done(&o, &p);
	}
	owner_open(&o, &p);
	hdr = (struct pvu_hdr){ PVU_SET_MEM_TABLE, PVU_VERSION, 0x10000 };
	peer_send_bytes(&p, &hdr, sizeof(hdr), NULL, 0);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	owner_done(&o, &p);

	/* A cut header, with descriptors. */
	owner_open(&o, &p);
	for (i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = eventfd(0, 0);
	peer_send_bytes(&p, &hdr, 4, fds, 8);
	CU_ASSERT_FALSE(peer_is_closed(&p));
	peer_close(&p);
	CU_ASSERT_FALSE(o.info.connected);
	owner_done(&o, &p);

	/* Twenty with one message; eight and one with two pieces of one. */
	owner_open(&o, &p);
	peer_send_bytes(&p, &hdr, 4, fds, 20);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	owner_done(&o, &p);
	owner_open(&o, &p);
	peer_send_bytes(&p, &hdr, 4, fds, 8);
	peer_send_bytes(&p, &hdr, 4, fds, 1);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	owner_done(&o, &p);
	for (i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
	CU_ASSERT_EQUAL(peer_count_fds(), before);
}

static void
vm05_features_not_offered(void)
{
	uint64_t features = F_PACKED | BIT(63);
	struct pvu_info info;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_FEATURES, features), 1);
	pvu_dev_info(o.dev, &info);
	CU_ASSERT_EQUAL(info.features, F_PACKED | BIT(30));
	CU_ASSERT_EQUAL(o.features, F_PACKED | BIT(30));
	CU_ASSERT_TRUE(still_answers());
	/* Not asking for an answer, the frontend learns it from the end of the connection. */
	peer_send(&p, PVU_SET_FEATURES, 0, &features, sizeof(features), NULL, 0);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	pvu_dev_info(o.dev, &info);
	CU_ASSERT_EQUAL(info.features, 0);
	owner_done(&o, &p);
}

static void
vm07_refused_requests(void)
{
	static const uint32_t acked[] = { PVU_SET_LOG_BASE, PVU_SET_LOG_FD, PVU_SEND_RARP,
		PVU_SET_BACKEND_REQ_FD, PVU_SET_VRING_ENDIAN, PVU_CLOSE_CRYPTO_SESSION,
		PVU_POSTCOPY_LISTEN, PVU_SET_INFLIGHT_FD, PVU_GPU_SET_SOCKET, PVU_VRING_KICK,
		PVU_ADD_MEM_REG, PVU_REM_MEM_REG };
	static const uint32_t owed[] = { PVU_IOTLB_MSG, PVU_CREATE_CRYPTO_SESSION,
		PVU_POSTCOPY_ADVISE, PVU_POSTCOPY_END, PVU_GET_INFLIGHT_FD, PVU_GET_MAX_MEM_SLOTS,
		PVU_GET_SHARED_OBJECT, PVU_SET_DEVICE_STATE_FD, PVU_CHECK_DEVICE_STATE };
	int fd = eventfd(0, 0);
	unsigned int i, before = peer_count_fds();
	const uint8_t zero[64] = { 0 };

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
	for (i = 0; i < ARRAY_LEN(acked); i++) {
		CU_ASSERT_STRING_NOT_EQUAL(pvu_request_name(acked[i]), "unknown");
		CU_ASSERT_EQUAL(peer_ask(&p, acked[i], zero, 40, &fd, 1), 1);
		CU_ASSERT_EQUAL(peer_send(&p, acked[i], 0, zero, 40, &fd, 1), 0);
		CU_ASSERT_TRUE(still_answers());
	}
	owner_done(&o, &p);
	for (i = 0; i < ARRAY_LEN(owed); i++) {
		owner_open(&o, &p);
		CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
		CU_ASSERT_STRING_NOT_EQUAL(pvu_request_name(owed[i]), "unknown");
		CU_ASSERT_EQUAL(peer_ask(&p, owed[i], zero, 40, &fd, 1), PEER_CLOSED);
		owner_done(&o, &p);
	}
	CU_ASSERT_EQUAL(peer_count_fds(), before);
	close(fd);
}

/* NEED_REPLY counts from the acknowledgement of REPLY_ACK on, and only so long. */
static void
vm07_reply_ack(void)
{
	const uint64_t ack = PVU_PROTO_REPLY_ACK, none = 0;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_OWNER, NULL, 0, NULL, 0), PEER_SILENT);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_PROTOCOL_FEATURES, &ack, 8, NULL, 0), PEER_SILENT);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_OWNER, NULL, 0, NULL, 0), 0);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_PROTOCOL_FEATURES, &none, 8, NULL, 0), 0);
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_OWNER, NULL, 0, NULL, 0), PEER_SILENT);
	CU_ASSERT_TRUE(still_answers());
	owner_done(&o, &p);
}

static void
vm09_unknown_requests(void)
{
	static const uint32_t unknown[] = { 0, PVU_NR_REQUESTS, 60, 0xffff, UINT32_MAX };
	int fd = eventfd(0, 0);
	unsigned int i, before = peer_count_fds();

	for (i = 0; i < ARRAY_LEN(unknown); i++) {
		CU_ASSERT_STRING_EQUAL(pvu_request_name(unknown[i]), "unknown");
		owner_open(&o, &p);
		CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
		CU_ASSERT_EQUAL(peer_ask(&p, unknown[i], NULL, 0, &fd, 1), 1);
		CU_ASSERT_TRUE(still_answers());
		peer_send(&p, unknown[i], 0, NULL, 0, &fd, 1);
		CU_ASSERT_TRUE(peer_is_closed(&p));
		owner_done(&o, &p);
	}
	CU_ASSERT_EQUAL(peer_count_fds(), before);
	close(fd);
}

static void
protocol_features(void)
{
	uint64_t offered = 0, queues = 0;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_get_u64(&p, PVU_GET_PROTOCOL_FEATURES, &offered), 0);
	CU_ASSERT_EQUAL(offered, BIT(0) | BIT(3) | BIT(4) | BIT(9) | BIT(13) | BIT(16));
	CU_ASSERT_EQUAL(peer_get_u64(&p, PVU_GET_QUEUE_NUM, &queues), 0);
	CU_ASSERT_EQUAL(queues, NR_RINGS / 2);
	CU_ASSERT_EQUAL(peer_negotiate(&p, 0, 0), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_PROTOCOL_FEATURES, offered | BIT(1)), 1);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_PROTOCOL_FEATURES, BIT(63)), 1);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_SET_PROTOCOL_FEATURES, offered), 0);
	owner_done(&o, &p);
}

static void
mtu(void)
{
	static const uint64_t bad[] = { 0, 67, 65536, UINT64_C(1) << 32 | 1500 };
	struct pvu_info info;
	unsigned int i;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, 0, PVU_PROTO_MTU), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_NET_SET_MTU, 9000), 0);
	CU_ASSERT_EQUAL(o.info.mtu, 9000);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_NET_SET_MTU, bad[i]), 1);
	pvu_dev_info(o.dev, &info);
	CU_ASSERT_EQUAL(info.mtu, 9000);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_NET_SET_MTU, 65535), 0);
	CU_ASSERT_EQUAL(peer_ask_u64(&p, PVU_NET_SET_MTU, 68), 0);
	CU_ASSERT_EQUAL(o.info.mtu, 68);
	peer_close(&p);
	CU_ASSERT_EQUAL(o.info.mtu, 0);
	owner_done(&o, &p);
}

static void
config(void)
{
	struct {
		struct pvu_config_hdr hdr;
		uint8_t bytes[256];
	} c = { .hdr = { .offset = 10, .size = 4 } };
	struct peer_answer answer;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, 0, PVU_PROTO_CONFIG), 0);
	peer_send(&p, PVU_GET_CONFIG, 0, &c, 16, NULL, 0);
	CU_ASSERT_EQUAL(peer_reply(&p, PVU_GET_CONFIG, &c, 16), 0);
	CU_ASSERT_EQUAL(c.bytes[0], 0xdc); /* MTU, then the first two bytes there are not */
	CU_ASSERT_EQUAL(c.bytes[1], 5);
	CU_ASSERT_EQUAL(c.bytes[2] | c.bytes[3], 0);
	c.hdr = (struct pvu_config_hdr){ .offset = 0, .size = 256 };
	peer_send(&p, PVU_GET_CONFIG, 0, &c, sizeof(c), NULL, 0);
	CU_ASSERT_EQUAL(peer_reply(&p, PVU_GET_CONFIG, &c, sizeof(c)), 0);
	/* Beyond the space, a sum that wraps, a size unlike the payload's: empty answers. */
	c.hdr = (struct pvu_config_hdr){ .offset = 253, .size = 4 };
	peer_send(&p, PVU_GET_CONFIG, 0, &c, 16, NULL, 0);
	c.hdr = (struct pvu_config_hdr){ .offset = UINT32_MAX, .size = 4 };
	peer_send(&p, PVU_GET_CONFIG, 0, &c, 16, NULL, 0);
	c.hdr = (struct pvu_config_hdr){ .offset = 0, .size = 5 };
	peer_send(&p, PVU_GET_CONFIG, 0, &c, 16, NULL, 0);
	c.hdr = (struct pvu_config_hdr){ .offset = 8, .size = UINT32_MAX - 4 };
	peer_send(&p, PVU_GET_CONFIG, 0, &c, 16, NULL, 0);
	for (int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(peer_receive(&p, &answer), 1);
		CU_ASSERT_EQUAL(answer.hdr.size, 0);
	}
	c.hdr = (struct pvu_config_hdr){ .offset = 0, .size = 6, .flags = 1 };
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_CONFIG, &c, 18, NULL, 0), 1);
	CU_ASSERT_TRUE(still_answers());
	owner_done(&o, &p);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "VM01 ring index", vm01_ring_index },
		{ "VM03 header", vm03_header },
		{ "VM05 features not offered", vm05_features_not_offered },
		{ "VM07 refused requests", vm07_refused_requests },
		{ "VM07 NEED_REPLY and REPLY_ACK", vm07_reply_ack },
		{ "VM09 unknown requests", vm09_unknown_requests },
		{ "protocol features, queue number", protocol_features },
		{ "MTU", mtu },
		{ "configuration space", config },
	};

	return run_tests("pvu protocol", cases, ARRAY_LEN(cases));
}
