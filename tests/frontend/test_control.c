/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Wrong messages to a port with traffic: it goes on with what it had, or the connection ends; the
 * next frontend is served; the port beside it notices nothing.
 */

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bystander.h"

#define PAGE 4096

static uint8_t pkt[FX_MAX_PKT];

static struct peer *
peer(void)
{
	return &fx.fe.peer;
}

/* A message has been refused: either we are still connected, and all is as before, or we are not,
 * and a fresh frontend is served.
 */
static void
check_refused(int answer)
{
	CU_ASSERT_NOT_EQUAL(answer, 0);
	CU_ASSERT_NOT_EQUAL(answer, PEER_SILENT);
	if (answer == PEER_CLOSED)
		fx_restart(FE_PLAIN, 64, 0);
	CU_ASSERT_TRUE(fx_good());
	CU_ASSERT_TRUE(bystander_lives());
}

static void
begin(void)
{
	fx_start(FE_PLAIN, 64);
	bystander_start();
}

static void
test_table_numbers(void)
{
	const uint64_t guest = 0x100000000, user = 0x7000000000, size = FE_MEM_SIZE;
	const struct pvu_mem_region bad[] = {
		{ guest, 0, user, 0 },
		{ guest, size + PAGE, user, 0 },
		{ guest, size, user, PAGE },
		{ guest, size, user, size },
		{ guest, PAGE, user, size },
		{ guest, UINT64_MAX - PAGE + 1, user, 2 * PAGE },
		{ guest, UINT64_MAX - PAGE + 1, user, 0 },
		{ guest, UINT64_MAX, user, 0 },
		{ guest, INT64_MAX, user, INT64_MAX },
		{ guest, PAGE, user, UINT64_MAX - PAGE + 1 },
		{ guest, PAGE, user, INT64_MAX - PAGE + 1 },
		{ UINT64_MAX - PAGE + 1, 2 * PAGE, user, 0 },
		{ UINT64_MAX - PAGE + 1, PAGE, user, 0 },
		{ guest, 2 * PAGE, UINT64_MAX - PAGE + 1, 0 },
		{ guest + 1, PAGE, user, 0 },
		{ guest, PAGE + 1, user, 0 },
		{ guest, PAGE, user + 8, 0 },
		{ guest, PAGE, user, 512 },
	};

	begin();
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		check_refused(peer_ask_regions(peer(), &bad[i], &peer()->mem.fd, 1));
	bystander_stop();
}

/* Wrong only as a table: overlaps, counts, the second of two regions. */
static void
test_table_whole(void)
{
	const struct pvu_mem_region good = peer_mem_region(&(struct peer_mem){ .size = PAGE,
			.guest_addr = 0x100000000, .user_addr = 0x7000000000 });
	struct pvu_mem_region r[8];
	int fds[8], fd;

	begin();
	fd = peer()->mem.fd;
	for (unsigned int i = 0; i < RTE_DIM(r); i++) {
		r[i] = good;
		r[i].guest_addr += i * PAGE;
		r[i].user_addr += i * PAGE;
		fds[i] = fd;
	}
	r[1].guest_addr = r[0].guest_addr;
	check_refused(peer_ask_regions(peer(), r, fds, 2));
	r[1].guest_addr = r[0].guest_addr + PAGE;
	r[1].user_addr = r[0].user_addr;
	check_refused(peer_ask_regions(peer(), r, fds, 2));
	r[1].user_addr += PAGE;
	r[7].size = 0;
	check_refused(peer_ask_regions(peer(), r, fds, 8));
	check_refused(peer_ask_regions(peer(), r, fds, 0));
	r[7] = good;
	check_refused(peer_ask_regions(peer(), r, fds, 8));
	/* One descriptor for two regions, two for one. */
	r[6].size = FE_MEM_SIZE;
	check_refused(peer_ask(peer(), PVU_SET_MEM_TABLE, &(struct {
		struct pvu_mem_hdr hdr;
		struct pvu_mem_region r[2];
	}){ { 2, 0 }, { r[0], r[1] } }, 72, fds, 1));
	check_refused(peer_ask(peer(), PVU_SET_MEM_TABLE, &(struct {
		struct pvu_mem_hdr hdr;
		struct pvu_mem_region r[1];
	}){ { 1, 0 }, { r[0] } }, 40, fds, 2));
	check_refused(peer_ask(peer(), PVU_SET_MEM_TABLE, &(struct {
		struct pvu_mem_hdr hdr;
		struct pvu_mem_region r[1];
	}){ { 0xffffffff, 0 }, { r[0] } }, 40, fds, 1));
	bystander_stop();
}

/* Descriptors that are no memory to share. */
static void
test_table_files(void)
{
	struct pvu_mem_region r;
	int pipes[2], sealed, read_only;
	char path[64];

	begin();
	r = peer_mem_region(&peer()->mem);
	CU_ASSERT_EQUAL(pipe(pipes), 0);
	sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
	CU_ASSERT_EQUAL(ftruncate(sealed, FE_MEM_SIZE), 0);
	CU_ASSERT_EQUAL(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", peer()->mem.fd);
	read_only = open(path, O_RDONLY);

	int fds[] = { open("/dev/zero", O_RDWR), open("/dev/null", O_RDWR), open("/", O_RDONLY),
		open("/proc/self/mem", O_RDWR), eventfd(0, 0), pipes[0], pipes[1], dup(peer()->fd),
		sealed, read_only };

	for (unsigned int i = 0; i < RTE_DIM(fds); i++) {
		check_refused(peer_ask_regions(peer(), &r, &fds[i], 1));
		close(fds[i]);
	}
	bystander_stop();
}

/* A table that is refused without an answer ends the connection, and no more. */
static void
test_table_unanswered(void)
{
	struct pvu_mem_hdr hdr = { .count = 1 };
	struct pvu_mem_region r = { 0 };
	uint8_t payload[sizeof(hdr) + sizeof(r)];

	begin();
	memcpy(payload, &hdr, sizeof(hdr));
	memcpy(payload + sizeof(hdr), &r, sizeof(r));
	CU_ASSERT_EQUAL(peer_send(peer(), PVU_SET_MEM_TABLE, 0, payload, sizeof(payload),
			&peer()->mem.fd, 1), 0);
	CU_ASSERT_TRUE(peer_is_closed(peer()));
	CU_ASSERT_EQUAL(fx_drain(), 0);
	fx_restart(FE_PLAIN, 64, 0);
	bystander_stop();
}

static void
test_ring_sizes(void)
{
	static const uint32_t bad[] = { 0, 32769, 65536, 65537, UINT32_MAX };

	begin();
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		/* Running, and stopped. */
		check_refused(peer_ask_state(peer(), PVU_SET_VRING_NUM, FE_TXQ, bad[i]));
		fe_ring_base(&fx.fe, FE_TXQ);
		CU_ASSERT_NOT_EQUAL(peer_ask_state(peer(), PVU_SET_VRING_NUM, FE_TXQ, bad[i]), 0);
		CU_ASSERT_EQUAL(fe_ring_resume(&fx.fe, FE_TXQ), 0);
		CU_ASSERT_TRUE(fx_good());
	}
	bystander_stop();
}

static void
test_ring_addresses(void)
{
	static const uint64_t bad[] = { 0, 0x1000, 0x7000000000 - 16, 0x7000000000 + FE_MEM_SIZE,
		0x7000000000 + FE_MEM_SIZE - 2, 0x100000000, UINT64_MAX - 15, UINT64_MAX,
		0x7000000000 + 8 };

	begin();
	for (unsigned int i = 0; i < 3 * RTE_DIM(bad); i++) {
		struct vhost_vring_addr addr = peer_ring_addr(peer(), &fx.fe.ring[FE_TXQ].wire);
		uint64_t at = bad[i / 3];

		if (i % 3 == 0)
			addr.desc_user_addr = at;
		else if (at % 16 == 8)
			continue; /* aligned enough for an event structure */
		else if (i % 3 == 1)
			addr.avail_user_addr = at;
		else
			addr.used_user_addr = at;
		check_refused(peer_ask(peer(), PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0));
	}
	bystander_stop();
}

/* The same without an answer wanted, when the ring is not running: it does not start. */
static void
test_ring_addresses_late(void)
{
	struct vhost_vring_addr addr;

	begin();
	fe_ring_base(&fx.fe, FE_TXQ);
	addr = peer_ring_addr(peer(), &fx.fe.ring[FE_TXQ].wire);
	addr.desc_user_addr = 0x7000000000 + FE_MEM_SIZE - 512;
	peer_send(peer(), PVU_SET_VRING_ADDR, 0, &addr, sizeof(addr), NULL, 0);
	fe_ring_resume(&fx.fe, FE_TXQ);
	fe_send(&fx.fe, FE_TXQ, pkt, 60, NULL, 0, false);
	CU_ASSERT_EQUAL(fx_drain(), 0);
	addr = peer_ring_addr(peer(), &fx.fe.ring[FE_TXQ].wire);
	CU_ASSERT_EQUAL(peer_ask(peer(), PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 0);
	CU_ASSERT_EQUAL(fx_drain(), 1);
	CU_ASSERT_EQUAL(fe_reap(&fx.fe, FE_TXQ), 1);
	/* A table without the running rings: they stop, and come back with the next table. */
	CU_ASSERT_EQUAL(peer_ask_regions(peer(), &(struct pvu_mem_region){ 0x100000000, PAGE,
			0x6000000000, 0 }, &peer()->mem.fd, 1), 0);
	CU_ASSERT_EQUAL(fx_drain(), 0);
	CU_ASSERT_EQUAL(peer_share(peer(), FE_MEM_SIZE), 0);
	CU_ASSERT_TRUE(fx_good());
	bystander_stop();
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "memory table: numbers", test_table_numbers },
		{ "memory table: regions together", test_table_whole },
		{ "memory table: files", test_table_files },
		{ "memory table: refused without an answer", test_table_unanswered },
		{ "ring sizes", test_ring_sizes },
		{ "ring addresses", test_ring_addresses },
		{ "ring addresses and a later table", test_ring_addresses_late },
		CU_TEST_INFO_NULL,
	};

	return fx_run("control", tests);
}
