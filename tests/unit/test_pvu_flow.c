/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Who waits for whom: slow frontends, silent ones, and those beside them. */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pvu_owner.h"

static struct owner o;
static struct peer p = { .fd = -1, .pump = owner_pump, .arg = &o };

static bool
answers(struct peer *peer)
{
	uint64_t features = 0;

	return peer_get_u64(peer, PVU_GET_FEATURES, &features) == 0;
}

static void
does_not_read(void)
{
	struct peer other;
	struct owner o2;
	unsigned int i;

	owner_open(&o2, &other);
	CU_ASSERT_EQUAL(owner_listen(&o, test_path("sock"), false), 0);
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	for (i = 0; i < 100000 && o.info.connected; i++) {
		if (peer_send(&p, PVU_GET_FEATURES, 0, NULL, 0, NULL, 0) < 0)
			break;
		peer_pump(&p);
	}
	CU_ASSERT_FALSE(o.info.connected);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.info.down_reason, "does not read its replies"));
	CU_ASSERT_TRUE(answers(&other));
	peer_close(&p);
	CU_ASSERT_EQUAL(peer_connect(&p, test_path("sock")), 0);
	CU_ASSERT_TRUE(answers(&p));
	peer_close(&p);
	owner_close(&o);
	owner_done(&o2, &other);
}

/* One that reads late gets all its answers, in order. */
static void
reads_late(void)
{
	struct pvu_params params = { .path = "late", .nrings = 2, .ops = &owner_ops, .owner = &o };
	const int small = 4096;
	uint64_t value;
	unsigned int i;
	int fd;

	memset(&o, 0, sizeof(o));
	o.loop = pvu_loop_create();
	fd = peer_pair(&p);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	CU_ASSERT_EQUAL(pvu_dev_create_fd(o.loop, &params, fd, &o.dev), 0);
	for (i = 0; i < 600; i++) {
		peer_send(&p, i & 1 ? PVU_GET_FEATURES : PVU_GET_QUEUE_NUM, 0, NULL, 0, NULL, 0);
		peer_pump(&p);
	}
	CU_ASSERT_TRUE(o.info.connected);
	for (i = 0; i < 600; i++)
		CU_ASSERT_EQUAL(peer_reply(&p, i & 1 ? PVU_GET_FEATURES : PVU_GET_QUEUE_NUM, &value,
						sizeof(value)),
				0);
	CU_ASSERT_TRUE(answers(&p));
	owner_done(&o, &p);
}

/* A message that stops in the middle keeps nobody waiting, and 1,000 do not starve a neighbour. */
static void
neighbours(void)
{
	const struct pvu_hdr hdr = { PVU_SET_FEATURES, PVU_VERSION, 8 };
	struct pvu_params params = {
		.path = "second", .nrings = 2, .ops = &owner_ops, .owner = &o
	};
	struct peer other = { .pump = owner_pump, .arg = &o };
	struct pvu_dev *dev;
	struct pvu_info info;
	unsigned int i;

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(pvu_dev_create_fd(o.loop, &params, peer_pair(&other), &dev), 0);
	peer_send_bytes(&p, &hdr, sizeof(hdr), NULL, 0);
	CU_ASSERT_TRUE(answers(&other));
	peer_send_bytes(&p, "\0\0\0\0\0\0\0\0", 8, NULL, 0);
	for (i = 0; i < 150; i++)
		peer_send(&p, PVU_SET_OWNER, 0, NULL, 0, NULL, 0);
	peer_send(&other, PVU_SET_OWNER, 0, NULL, 0, NULL, 0);
	pvu_loop_poll(o.loop, 0);
	pvu_dev_info(dev, &info);
	CU_ASSERT_EQUAL(info.messages, 2);
	pvu_dev_info(o.dev, &info);
	CU_ASSERT_TRUE(info.messages <= 64);
	owner_pump(&o);
	pvu_dev_info(o.dev, &info);
	CU_ASSERT_EQUAL(info.messages, 151);
	pvu_dev_destroy(dev);
	close(other.fd);
	owner_done(&o, &p);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "frontend does not read", does_not_read },
		{ "frontend reads late", reads_late },
		{ "neighbours", neighbours },
	};

	return run_tests("pvu flow", cases, ARRAY_LEN(cases));
}
