/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Memory tables: which are believed, and what is mapped. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pvu_owner.h"

#define GPA UINT64_C(0x100000000)
#define UVA UINT64_C(0x7000000000)
#define SIZE UINT64_C(0x10000)

static struct owner o;
static struct peer p;

static void
begin(void)
{
	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
	CU_ASSERT_EQUAL(peer_mem_new(&p.mem, SIZE, GPA, UVA), 0);
}

static int
ask(uint64_t guest_addr, uint64_t size, uint64_t user_addr, uint64_t offset)
{
	const struct pvu_mem_region region = { guest_addr, size, user_addr, offset };

	return peer_ask_regions(&p, &region, &p.mem.fd, 1);
}

static void
mm09_sizes_and_offsets(void)
{
	static const struct pvu_mem_region bad[] = {
		{ GPA, 0, UVA, 0 },
		{ GPA, UINT64_C(0xfffffffffffff000), UVA, 0x2000 },
		{ GPA, UINT64_C(0xfffffffffffff000), UVA, 0 },
		{ GPA, SIZE, UVA, UINT64_C(0xfffffffffffff000) },
		{ UINT64_C(0xfffffffffffff000), SIZE, UVA, 0 },
		{ GPA, SIZE, UINT64_C(0xffffffffffff1000), 0 },
		{ GPA, SIZE + 0x1000, UVA, 0 },
		{ GPA, SIZE, UVA, 0x1000 },
		{ GPA, 0x1000, UVA, SIZE },
		{ GPA + 8, 0x1000, UVA, 0 },
		{ GPA, 0x1008, UVA, 0 },
		{ GPA, 0x1000, UVA + 8, 0 },
		{ GPA, 0x1000, UVA, 8 },
		{ GPA, UINT64_C(1) << 63, UVA, 0 },
	};
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		CU_ASSERT_EQUAL(ask(bad[i].guest_addr, bad[i].size, bad[i].user_addr,
						bad[i].offset),
				1);
		CU_ASSERT_EQUAL(o.nregions, 0);
	}
	CU_ASSERT_EQUAL(ask(GPA, 0, UVA, 0), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.line, "region 0 is empty"));
	CU_ASSERT_EQUAL(ask(GPA, SIZE, UVA, 0), 0);
	CU_ASSERT_EQUAL(o.regions[0].guest_addr, GPA);
	CU_ASSERT_EQUAL(o.regions[0].user_addr, UVA);
	CU_ASSERT_EQUAL(o.regions[0].size, SIZE);
	memset(p.mem.base + 0x3000, 0x33, 0x1000);
	CU_ASSERT_EQUAL(ask(GPA, 0x1000, UVA, 0x3000), 0);
	CU_ASSERT_EQUAL(*(uint8_t *)o.regions[0].host, 0x33);
	/* A region may end where addresses end, but for the last page. */
	CU_ASSERT_EQUAL(ask(UINT64_C(0xffffffffffffe000), 0x1000, UVA, 0), 0);
	owner_done(&o, &p);
}

static void
not_reported(void)
{
	const uint64_t none = 0;

	begin();
	/* Nobody listens: a device without memory is taken down, and the next may try again. */
	peer_send(&p, PVU_SET_MEM_TABLE, 0, &none, sizeof(none), NULL, 0);
	CU_ASSERT_TRUE(peer_is_closed(&p));
	CU_ASSERT_PTR_NOT_NULL(strstr(o.info.down_reason, "no regions"));
	owner_done(&o, &p);
}

static void
overlaps(void)
{
	struct pvu_mem_region r[2] = { { GPA, SIZE / 2, UVA, 0 },
		{ GPA + SIZE / 2, SIZE / 2, UVA + SIZE / 2, SIZE / 2 } };
	int fds[2];

	begin();
	fds[0] = fds[1] = p.mem.fd;
	CU_ASSERT_EQUAL(peer_ask_regions(&p, r, fds, 2), 0);
	CU_ASSERT_EQUAL(o.nregions, 2);
	r[1].guest_addr -= 0x1000;
	CU_ASSERT_EQUAL(peer_ask_regions(&p, r, fds, 2), 1);
	r[1].guest_addr += 0x1000;
	r[1].user_addr -= 0x1000;
	CU_ASSERT_EQUAL(peer_ask_regions(&p, r, fds, 2), 1);
	r[1] = r[0];
	CU_ASSERT_EQUAL(peer_ask_regions(&p, r, fds, 2), 1);
	CU_ASSERT_EQUAL(o.nregions, 2);
	owner_done(&o, &p);
}

/* MM11: neighbours are not one region; each is served from its own file. */
static void
mm11_neighbours(void)
{
	struct pvu_mem_region r[8];
	struct peer_mem mem[8];
	unsigned int before = peer_count_fds(), i;
	struct vhost_vring_addr addr = { 0 };
	int fds[8];

	owner_open(&o, &p);
	CU_ASSERT_EQUAL(peer_negotiate(&p, F_PACKED, 0), 0);
	for (i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(peer_mem_new(&mem[i], SIZE, GPA + i * SIZE, UVA + i * SIZE), 0);
		memset(mem[i].base, (int)(0x10 + i), SIZE);
		r[i] = peer_mem_region(&mem[i]);
		r[i].size = SIZE - 0x1000;
		r[i].offset = 0x1000;
		r[i].guest_addr = GPA + i * r[i].size;
		r[i].user_addr = UVA + i * r[i].size;
		fds[i] = mem[i].fd;
	}
	CU_ASSERT_EQUAL(peer_ask_regions(&p, r, fds, 8), 0);
	for (i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(*(uint8_t *)o.regions[i].host, 0x10 + i);
		mem[i].base[0x1000] = 0xee;
		CU_ASSERT_EQUAL(*(uint8_t *)o.regions[i].host, 0xee);
	}
	/* A ring over the border of two of them lies in neither. */
	CU_ASSERT_EQUAL(peer_ask_state(&p, PVU_SET_VRING_NUM, 0, 64), 0);
	addr.desc_user_addr = UVA + r[0].size - 512;
	addr.avail_user_addr = UVA;
	addr.used_user_addr = UVA + 0x1000;
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 1);
	addr.desc_user_addr = UVA + r[0].size - 1024;
	CU_ASSERT_EQUAL(peer_ask(&p, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0), 0);
	owner_done(&o, &p);
	for (i = 0; i < 8; i++)
		peer_mem_free(&mem[i]);
	CU_ASSERT_EQUAL(peer_count_fds(), before);
}

static void
files(void)
{
	char name[] = "/tmp/pvu-mem-XXXXXX";
	struct pvu_mem_region region = { GPA, SIZE, UVA, 0 };
	int fds[2], file, sealed;

	begin();
	CU_ASSERT_EQUAL(pipe(fds), 0);
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &fds[0], 1), 1);
	/* On a disk or a network, or worse, a page fault may take its time. */
	file = mkstemp(name);
	CU_ASSERT_EQUAL(ftruncate(file, SIZE), 0);
	unlink(name);
	if (fcntl(file, F_GET_SEALS) < 0)
		CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &file, 1), 1);
	/* A file that cannot be written to is of no use. */
	sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CU_ASSERT_EQUAL(ftruncate(sealed, SIZE), 0);
	CU_ASSERT_EQUAL(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &sealed, 1), 0);
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &p.mem.fd, 1), 0);
	CU_ASSERT_EQUAL(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &sealed, 1), 1);
	close(fds[0]);
	close(fds[1]);
	close(file);
	close(sealed);
	owner_done(&o, &p);
}

/* Kilobytes of this process that are backed by shared memory. */
static long
resident_shared(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = -1;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "RssShmem: %ld", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb;
}

/* Gigabytes that are not there cost nothing to map, even where all mappings are populated. */
static void
lazy(void)
{
	struct pvu_mem_region region = { GPA, UINT64_C(1) << 34, UINT64_C(1) << 45, 0 };
	bool locked = mlockall(MCL_FUTURE) == 0;
	long before;

	begin();
	CU_ASSERT_EQUAL(ftruncate(p.mem.fd, (off_t)region.size), 0);
	before = resident_shared();
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &region, &p.mem.fd, 1), 0);
	CU_ASSERT_TRUE(resident_shared() - before < 1024);
	((uint8_t *)o.regions[0].host)[UINT64_C(1) << 33] = 1;
	owner_done(&o, &p);
	if (locked)
		munlockall();
}

static void
huge_pages(void)
{
	const uint64_t huge = 2 << 20;
	struct pvu_mem_region r = { GPA, huge, UVA, huge };
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB | 21u << 26 /* 2 MiB */);
	uint8_t *base;

	if (fd < 0 || ftruncate(fd, 2 * (off_t)huge) < 0)
		return;
	base = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		puts("no huge pages here, not tested");
		close(fd);
		return;
	}
	begin();
	base[huge + 0x1000] = 0x61;
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &r, &fd, 1), 0);
	CU_ASSERT_EQUAL(((uint8_t *)o.regions[0].host)[0x1000], 0x61);
	/* A region in the middle of a page. */
	r = (struct pvu_mem_region){ GPA, 0x2000, UVA, huge + 0x1000 };
	CU_ASSERT_EQUAL(peer_ask_regions(&p, &r, &fd, 1), 0);
	CU_ASSERT_EQUAL(*(uint8_t *)o.regions[0].host, 0x61);
	CU_ASSERT_EQUAL(ftruncate(fd, (off_t)huge), 0);
	CU_ASSERT_EQUAL(*(uint8_t *)o.regions[0].host, 0);
	owner_done(&o, &p);
	munmap(base, 2 * huge);
	close(fd);
}

int
main(void)
{
	static const struct test_case cases[] = {
		{ "MM09 sizes and offsets", mm09_sizes_and_offsets },
		{ "failure not reported", not_reported },
		{ "overlaps", overlaps },
		{ "MM11 neighbours", mm11_neighbours },
		{ "files", files },
		{ "lazy mapping", lazy },
		{ "huge pages", huge_pages },
	};

	return run_tests("pvu memory", cases, ARRAY_LEN(cases));
}
