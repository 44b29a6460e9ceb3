/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Random traffic between both halves, each word of the ring checked after each step. */

#include <stdlib.h>
#include <string.h>

#include "pvq_driver.h"

#define MAX_SEGS 8      /* of a random buffer */
#define TABLES 0x100000 /* driver address of the indirect tables, one per slot */

/* A buffer of random shape; its seed alone says what it looks like. */
struct buf {
	uint64_t seed;
	uint32_t len; /* the device's answer */
	uint16_t id;
	uint16_t ndesc;
};

struct shape {
	struct pvq_seg seg[MAX_SEGS];
	uint16_t nsegs;
	bool indirect;
};

/* Buffers in some order; at most one per slot. */
struct queue {
	struct buf *buf;
	uint32_t head, n;
};

struct soak {
	struct pvq_pair p;
	struct queue posted, taken, done;
	struct vring_packed_desc *want; /* what the ring has to look like */
	uint64_t rng;
	uint64_t used; /* slots the device has given back */
	bool in_order;
};

static void
push(const struct soak *soak, struct queue *q, struct buf b)
{
	q->buf[(q->head + q->n++) % soak->p.drv.size] = b;
}

static struct buf
pop(const struct soak *soak, struct queue *q)
{
	struct buf b = q->buf[q->head];

	q->head = (q->head + 1) % soak->p.drv.size;
	q->n--;
	return b;
}

/* Half of all buffers are of one direct descriptor; chains are at most as long as the ring. */
static struct shape
make_shape(uint64_t seed, uint16_t size)
{
	struct shape shape = { .nsegs = 1 };
	uint32_t kind = pvq_rand_below(&seed, 4);

	shape.indirect = kind == 3;
	if (kind >= 2)
		shape.nsegs += pvq_rand_below(&seed, size < MAX_SEGS ? size : MAX_SEGS);
	for (uint16_t i = 0; i < shape.nsegs; i++) {
		shape.seg[i].addr = pvq_rand(&seed);
		shape.seg[i].len = pvq_rand(&seed);
		shape.seg[i].write = pvq_rand_below(&seed, 8) < 4;
	}
	return shape;
}

/* The tables lie in two regions, one entry in both. */
static void
write_table(struct soak *soak, uint64_t addr, const struct shape *shape)
{
	for (uint16_t i = 0; i < shape->nsegs; i++) {
		const struct vring_packed_desc d = {
			.addr = shape->seg[i].addr,
			.len = shape->seg[i].len,
			.id = pvq_rand(&soak->rng),
			/* Every flag but WRITE has no meaning here. */
			.flags = (pvq_rand(&soak->rng) & ~VRING_DESC_F_WRITE) |
				 (shape->seg[i].write ? VRING_DESC_F_WRITE : 0),
		};
		uint64_t off = addr + i * sizeof(d) - TABLES;

		for (unsigned int j = 0; j < sizeof(d); j++, off++) {
			const struct pvq_mem_region *r = soak->p.region;

			if (off >= r->size)
				r++;
			r->host[off + TABLES - r->addr] = ((const uint8_t *)&d)[j];
		}
	}
}

static bool
post_one(struct soak *soak)
{
	struct buf b = { .seed = pvq_rand(&soak->rng) };
	struct shape shape = make_shape(b.seed, soak->p.drv.size);
	int id;

	if (shape.indirect) {
		uint64_t slot = soak->p.drv.avail % soak->p.drv.size;
		struct pvq_seg table = { .addr = TABLES + slot * MAX_SEGS * 16,
			.len = shape.nsegs * 16,
			.write = pvq_rand_below(&soak->rng, 2) };

		if (soak->p.drv.avail - soak->p.drv.used == soak->p.drv.size)
			return false;
		write_table(soak, table.addr, &shape);
		b.ndesc = 1;
		id = pvq_driver_add(&soak->p.drv, &table, 1, VRING_DESC_F_INDIRECT);
	} else {
		b.ndesc = shape.nsegs;
		id = pvq_driver_add(&soak->p.drv, shape.seg, shape.nsegs, 0);
	}
	if (id < 0)
		return false;
	b.id = id;
	push(soak, &soak->posted, b);
	return true;
}

static void
take_chain(struct soak *soak)
{
	struct pvq_chain chain;
	struct shape shape;
	struct buf b;
	int ret;

	soak->p.segs.n = pvq_rand_below(&soak->rng, 3);
	ret = pvq_packed_next_avail(&soak->p.dev, &chain, &soak->p.segs);
	CU_ASSERT_FATAL(ret == (soak->posted.n > 0));
	if (ret == 0)
		return;
	b = pop(soak, &soak->posted);
	shape = make_shape(b.seed, soak->p.drv.size);
	CU_ASSERT_FATAL(chain.id == b.id && chain.ndesc == b.ndesc);
	CU_ASSERT_FATAL(chain.nsegs == shape.nsegs);
	CU_ASSERT_FATAL(chain.segs + chain.nsegs == soak->p.segs.seg + soak->p.segs.n);
	for (uint16_t i = 0; i < chain.nsegs; i++) {
		CU_ASSERT_FATAL(chain.segs[i].addr == shape.seg[i].addr);
		CU_ASSERT_FATAL(chain.segs[i].len == shape.seg[i].len);
		CU_ASSERT_FATAL(chain.segs[i].write == shape.seg[i].write);
	}
	push(soak, &soak->taken, b);
}

/* Exactly as many as are of the shape asked for and lie before the ring's end. */
static void
take_singles(struct soak *soak)
{
	uint16_t max = pvq_rand_below(&soak->rng, 10);
	bool write = pvq_rand_below(&soak->rng, 2);
	uint16_t to_end = soak->p.drv.size - soak->p.dev.avail.idx;
	struct pvq_single got[10];
	uint16_t n = pvq_packed_next_singles(&soak->p.dev, got, max, write);

	CU_ASSERT_FATAL(n <= max && n <= to_end && n <= soak->posted.n);
	for (uint16_t i = 0; i < n; i++) {
		struct buf b = pop(soak, &soak->posted);
		struct shape shape = make_shape(b.seed, soak->p.drv.size);

		CU_ASSERT_FATAL(!shape.indirect && shape.nsegs == 1 && shape.seg[0].write == write);
		CU_ASSERT_FATAL(got[i].id == b.id && got[i].addr == shape.seg[0].addr);
		CU_ASSERT_FATAL(got[i].len == shape.seg[0].len);
		push(soak, &soak->taken, b);
	}
	if (n < max && n < to_end && soak->posted.n > 0) {
		struct shape next = make_shape(
				soak->posted.buf[soak->posted.head].seed, soak->p.drv.size);

		CU_ASSERT_FATAL(next.indirect || next.nsegs > 1 || next.seg[0].write != write);
	}
}

/* Done with one of the taken buffers: the first, or any. */
static void
complete_one(struct soak *soak)
{
	struct queue *q = &soak->taken;
	uint32_t any = soak->in_order ? 0 : pvq_rand_below(&soak->rng, q->n);
	struct buf *other = &q->buf[(q->head + any) % soak->p.drv.size];
	struct buf b = *other;
	struct vring_packed_desc *want = &soak->want[soak->used % soak->p.drv.size];

	*other = pop(soak, q);
	b.len = pvq_rand_below(&soak->rng, 3) ? pvq_rand(&soak->rng) : 0;
	pvq_packed_push_used(&soak->p.dev, b.id, b.len, b.ndesc);
	want->len = b.len;
	want->id = b.id;
	want->flags = pvq_driver_used_flags(&soak->p.drv, soak->used) |
		      (b.len > 0 ? VRING_DESC_F_WRITE : 0);
	soak->used += b.ndesc;
	push(soak, &soak->done, b);
}

static void
poll_all(struct soak *soak)
{
	struct pvq_driver_used used;

	while (pvq_driver_poll(&soak->p.drv, &used)) {
		struct buf b = pop(soak, &soak->done);

		CU_ASSERT_FATAL(used.id == b.id && used.len == b.len && used.ndesc == b.ndesc);
		CU_ASSERT_FATAL(used.flags == (b.len > 0 ? VRING_DESC_F_WRITE : 0));
	}
	CU_ASSERT_FATAL(soak->done.n == 0);
}

static void
step(struct soak *soak)
{
	size_t bytes = soak->p.drv.size * sizeof(soak->want[0]);
	uint32_t n;

	for (n = pvq_rand_below(&soak->rng, soak->p.drv.size + 1u); n > 0 && post_one(soak); n--)
		;
	memcpy(soak->want, soak->p.drv.desc, bytes);
	for (n = pvq_rand_below(&soak->rng, soak->p.drv.size + 1u); n > 0; n--) {
		if (pvq_rand_below(&soak->rng, 2))
			take_chain(soak);
		else
			take_singles(soak);
	}
	CU_ASSERT_FATAL(memcmp(soak->want, soak->p.drv.desc, bytes) == 0);
	for (n = pvq_rand_below(&soak->rng, soak->taken.n + 1); n > 0; n--)
		complete_one(soak);
	pvq_packed_flush_used(&soak->p.dev, NULL);
	CU_ASSERT_FATAL(memcmp(soak->want, soak->p.drv.desc, bytes) == 0);
	poll_all(soak);
}

static void
run(uint16_t size, uint64_t start, bool in_order)
{
	uint64_t bytes = (uint64_t)size * MAX_SEGS * 16, cut = bytes / 2 + 7;
	struct soak soak = { .rng = size * 2u + in_order, .in_order = in_order, .used = start };

	pvq_pair_init(&soak.p, size, start, false);
	pvq_pair_add_memory(&soak.p, TABLES, cut);
	pvq_pair_add_memory(&soak.p, TABLES + cut, bytes - cut);
	soak.posted.buf = calloc(size, sizeof(struct buf));
	soak.taken.buf = calloc(size, sizeof(struct buf));
	soak.done.buf = calloc(size, sizeof(struct buf));
	soak.want = calloc(size, sizeof(soak.want[0]));
	while (soak.p.drv.used < start + 20ull * size + 200)
		step(&soak);
	free(soak.want);
	free(soak.done.buf);
	free(soak.taken.buf);
	free(soak.posted.buf);
	pvq_pair_fini(&soak.p);
}

static void
each_size(bool in_order)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8, 96, 256, 1000, 32768 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		run(sizes[i], 0, in_order);
		if (sizes[i] < 256)
			run(sizes[i], sizes[i] + sizes[i] / 2, in_order);
	}
}

static void
in_order(void)
{
	each_size(true);
}

static void
any_order(void)
{
	each_size(false);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "buffers given back in order", in_order },
		{ "buffers given back in any order", any_order },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq random traffic", tests);
}
