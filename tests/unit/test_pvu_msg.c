/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Every request: right, cut short, too long, with descriptors missing and to spare, too early, and
 * in pieces. What a message must look like is written down here a second time, on purpose.
 */

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pvu_owner.h"

enum kind { EMPTY, U64, STATE, ADDR, TABLE, EVENT, CONFIG };

static const uint32_t kind_size[] = {
	[EMPTY] = 0, [U64] = 8, [STATE] = 8, [ADDR] = 40, [TABLE] = 40, [EVENT] = 8, [CONFIG] = 20
};

static const struct shape {
	uint32_t request;
	enum kind kind;
	uint64_t value;      /* u64, or ring and number */
	uint32_t reply_size; /* 0: acknowledged only */
	uint64_t proto;      /* protocol feature it needs */
	bool refused;        /* even if it is right */
} shapes[] = {
	{ PVU_GET_FEATURES, EMPTY, 0, 8, 0, false },
	{ PVU_SET_FEATURES, U64, F_PACKED | BIT(30), 0, 0, false },
	{ PVU_SET_OWNER, EMPTY, 0, 0, 0, false },
	{ PVU_RESET_OWNER, EMPTY, 0, 0, 0, false },
	{ PVU_SET_MEM_TABLE, TABLE, 0, 0, 0, false },
	{ PVU_SET_VRING_NUM, STATE, UINT64_C(256) << 32, 0, 0, false },
	{ PVU_SET_VRING_ADDR, ADDR, 0, 0, 0, false },
	{ PVU_SET_VRING_BASE, STATE, UINT64_C(0x8000) << 32, 0, 0, false },
	{ PVU_GET_VRING_BASE, STATE, 0, 8, 0, false },
	{ PVU_SET_VRING_KICK, EVENT, 0, 0, 0, false },
	{ PVU_SET_VRING_CALL, EVENT, 0, 0, 0, false },
	{ PVU_SET_VRING_ERR, EVENT, 0, 0, 0, false },
	{ PVU_GET_PROTOCOL_FEATURES, EMPTY, 0, 8, 0, false },
	{ PVU_SET_PROTOCOL_FEATURES, U64, PVU_PROTO_REPLY_ACK, 0, 0, false },
	{ PVU_GET_QUEUE_NUM, EMPTY, 0, 8, 0, false },
	{ PVU_SET_VRING_ENABLE, STATE, UINT64_C(1) << 32, 0, 0, false },
	{ PVU_NET_SET_MTU, U64, 1500, 0, 0, false },
	{ PVU_GET_CONFIG, CONFIG, 0, 20, PVU_PROTO_CONFIG, false },
	{ PVU_SET_CONFIG, CONFIG, 0, 0, PVU_PROTO_CONFIG, true },
	{ PVU_RESET_DEVICE, EMPTY, 0, 0, 0, false },
	{ PVU_SET_STATUS, U64, 1, 0, PVU_PROTO_STATUS, false },
	{ PVU_GET_STATUS, EMPTY, 0, 8, PVU_PROTO_STATUS, false },
};

static struct owner o;
static struct peer p;

/* The right payload for @p s. @return its size */
static uint32_t
build(const struct shape *s, uint8_t *payload)
{
	const struct pvu_config_hdr config = { .offset = 0, .size = 8 };
	struct vhost_vring_addr addr = { .desc_user_addr = 0x7000000000 };
	const uint32_t count = 1;
	struct pvu_mem_region region;

	memset(payload, 0, 64);
	memcpy(payload, &s->value, sizeof(s->value));
	if (s->kind == CONFIG)
		memcpy(payload, &config, sizeof(config));
	if (s->kind == ADDR) {
		addr.avail_user_addr = addr.desc_user_addr + 0x2000;
		addr.used_user_addr = addr.desc_user_addr + 0x3000;
		memcpy(payload, &addr, sizeof(addr));
	}
	if (s->kind == TABLE) {
		region = peer_mem_region(&p.mem);
		memcpy(payload, &count, sizeof(count));
		memcpy(payload + sizeof(struct pvu_mem_hdr), &region, sizeof(region));
	}
	return kind_size[s->kind];
}

static unsigned int
right_fds(const struct shape *s)
{
	return s->kind == TABLE || s->kind == EVENT;
}

static void
begin(uint64_t proto)
{
	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, proto), 0);
	CU_ASSERT_EQUAL(peer_share(&p, 0x10000), 0);
}

/* Send @p s in @p size bytes with @p nfds descriptors. @return as peer_ask(), 0 for a reply */
static int
try(const struct shape *s, uint32_t size, unsigned int nfds)
{
	uint8_t payload[1024] = { 0 };
	int fds[32], rc;
	unsigned int i;

	build(s, payload);
	for (i = 0; i < nfds; i++)
		fds[i] = s->kind == TABLE ? dup(p.mem.fd) : eventfd(0, EFD_NONBLOCK);
	if (s->reply_size != 0) {
		rc = peer_send(&p, s->request, PVU_NEED_REPLY, payload, size, fds, nfds);
		if (rc == 0)
			rc = peer_reply(&p, s->request, payload, s->reply_size);
	} else {
		rc = peer_ask(&p, s->request, payload, size, fds, nfds);
	}
	for (i = 0; i < nfds; i++)
		close(fds[i]);
	return rc;
}

static bool
still_answers(void)
{
	uint64_t features = 0;

	return peer_get_u64(&p, PVU_GET_FEATURES, &features) == 0 &&
	       features == (ALL_FEATURES | BIT(30));
}

#define FOR_EACH_SHAPE(s) for (s = shapes; s < shapes + ARRAY_LEN(shapes); s++)

static void
right(void)
{
	const struct shape *s;
	struct pvu_info info;

	FOR_EACH_SHAPE(s)
	{
		begin(s->proto);
		CU_ASSERT_EQUAL(try(s, kind_size[s->kind], right_fds(s)), s->refused);
		pvu_dev_info(o.dev, &info);
		CU_ASSERT_STRING_EQUAL(info.last_message, pvu_request_name(s->request));
		CU_ASSERT_EQUAL(info.last_result < 0, s->refused);
		CU_ASSERT_TRUE(still_answers());
		owner_done(&o, &p);
	}
}

/* One answer each, and the next request gets its own. */
static void
vm07_without_need_reply(void)
{
	const struct shape *s;
	uint8_t payload[1024];
	uint32_t size;
	int fd;

	FOR_EACH_SHAPE(s)
	{
		begin(s->proto);
		size = build(s, payload);
		fd = s->kind == TABLE ? p.mem.fd : 0;
		CU_ASSERT_EQUAL(peer_send(&p, s->request, 0, payload, size, &fd, s->kind == TABLE),
				0);
		if (s->kind == EVENT) { /* an event without its descriptor: the end */
			CU_ASSERT_TRUE(peer_is_closed(&p));
		} else {
			if (s->reply_size != 0)
				CU_ASSERT_EQUAL(peer_reply(&p, s->request, payload, s->reply_size),
						0);
			CU_ASSERT_TRUE(still_answers());
		}
		owner_done(&o, &p);
	}
}

static void
sizes(void)
{
	const struct shape *s;
	uint32_t size;

	FOR_EACH_SHAPE(s)
	{
		size = kind_size[s->kind];
		if (size != 0) {
			begin(s->proto);
			/* A configuration message too short for its own header, too. */
			CU_ASSERT_EQUAL(try(s, s->kind == CONFIG ? 11 : size - 1, right_fds(s)),
					PEER_CLOSED);
			owner_done(&o, &p);
		}
		begin(s->proto);
		CU_ASSERT_EQUAL(try(s, s->kind == CONFIG ? PVU_MAX_PAYLOAD + 1 : size + 1,
						right_fds(s)),
				PEER_CLOSED);
		CU_ASSERT_PTR_NOT_NULL(strstr(o.info.down_reason, pvu_request_name(s->request)));
		owner_done(&o, &p);
	}
}

static void
fd01_descriptors(void)
{
	static const unsigned int surplus[] = { 1, 2, 7, 8, 9, 20 };
	unsigned int before = peer_count_fds(), i;
	const struct shape *s;

	FOR_EACH_SHAPE(s)
	{
		if (right_fds(s)) {
			begin(s->proto);
			CU_ASSERT_EQUAL(try(s, kind_size[s->kind], 0), PEER_CLOSED);
			owner_done(&o, &p);
		}
		for (i = 0; i < ARRAY_LEN(surplus); i++) {
			begin(s->proto);
			CU_ASSERT_EQUAL(try(s, kind_size[s->kind], right_fds(s) + surplus[i]),
					PEER_CLOSED);
			owner_done(&o, &p);
		}
	}
	CU_ASSERT_EQUAL(peer_count_fds(), before);
}

static void
protocol_feature_missing(void)
{
	const struct shape *s;

	FOR_EACH_SHAPE(s)
	{
		if (s->proto == 0)
			continue;
		begin(0);
		CU_ASSERT_EQUAL(try(s, kind_size[s->kind], 0), s->reply_size ? PEER_CLOSED : 1);
		owner_done(&o, &p);
	}
}

/* In pieces of every length, and with other work between them. */
static void
in_pieces(void)
{
	const struct shape *s;
	uint8_t bytes[12 + 64];
	struct pvu_hdr hdr;
	uint32_t len, cut;
	uint64_t ack;
	int fd = eventfd(0, EFD_NONBLOCK);

	FOR_EACH_SHAPE(s)
	{
		begin(s->proto);
		hdr = (struct pvu_hdr){ s->request, PVU_VERSION | PVU_NEED_REPLY,
			kind_size[s->kind] };
		memcpy(bytes, &hdr, sizeof(hdr));
		len = sizeof(hdr) + build(s, bytes + sizeof(hdr));
		for (cut = 1; cut < len && s->reply_size == 0; cut++) {
			const int *send = s->kind == TABLE ? &p.mem.fd : &fd;

			peer_send_bytes(&p, bytes, cut, send, right_fds(s));
			peer_pump(&p);
			CU_ASSERT_FALSE(peer_is_closed(&p));
			peer_send_bytes(&p, bytes + cut, len - cut, NULL, 0);
			CU_ASSERT_EQUAL(peer_reply(&p, s->request, &ack, sizeof(ack)), 0);
			CU_ASSERT_EQUAL(ack, s->refused);
		}
		owner_done(&o, &p);
	}
	close(fd);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "every request, right", right },
		{ "VM07 one answer when due", vm07_without_need_reply },
		{ "cut short, too long", sizes },
		{ "FD01 descriptors missing, to spare", fd01_descriptors },
		{ "protocol feature not acknowledged", protocol_feature_missing },
		{ "in pieces", in_pieces },
	};

	return run_tests("pvu messages", cases, ARRAY_LEN(cases));
}
