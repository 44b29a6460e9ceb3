/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Barrier B: what a driver may see of a flush, on any machine, for the flush that there is and
 * for others that are known to be safe or not.
 */

#include "explore.h"
#include "flush_variants.h"

#define MEM_ADDR 0x1000

static bool
looks_used(const struct batch *b, uint64_t pos)
{
	uint16_t flags = pvq_driver_desc(&b->p.drv, pos)->flags;

	return (flags & 0x8080) == pvq_driver_used_flags(&b->p.drv, pos);
}

/* A used entry tells the truth, and its payload is there. */
static bool
is_right(const struct batch *b, const struct entry *e)
{
	const struct vring_packed_desc *d = pvq_driver_desc(&b->p.drv, e->pos);

	return d->id == e->elem.id && d->len == e->elem.len &&
	       (d->flags & ~0x8080) == (e->elem.len > 0 ? VRING_DESC_F_WRITE : 0) &&
	       b->payload[e->elem.id] == e->payload;
}

/* Looks at the next slot only, and goes on when that is used. */
static bool
poller(const void *arg)
{
	const struct batch *b = arg;

	for (unsigned int i = 0; i < b->n; i++) {
		if (!looks_used(b, b->entry[i].pos))
			return true;
		if (!is_right(b, &b->entry[i]))
			return false;
	}
	return !looks_used(b, b->end);
}

/* Looks at all slots, whatever it finds in those before. */
static bool
peeker(const void *arg)
{
	const struct batch *b = arg;
	unsigned int i = 0;

	for (uint64_t pos = b->first; pos < b->first + b->p.drv.size; pos++) {
		bool entry = i < b->n && b->entry[i].pos == pos;

		if (looks_used(b, pos) && !(entry && is_right(b, &b->entry[i])))
			return false;
		i += entry;
	}
	return true;
}

/* Let @p n buffers of @p ndesc slots in, and take them: the last first, so that ids move. */
static void
take_buffers(struct batch *b, unsigned int n, uint16_t ndesc)
{
	const struct pvq_seg seg[2] = { { MEM_ADDR, 999, true }, { MEM_ADDR, 998, true } };
	struct pvq_chain chain;

	b->n = n;
	b->first = b->p.drv.avail;
	for (unsigned int i = 0; i < n; i++)
		pvq_driver_add(&b->p.drv, seg, ndesc, 0);
	b->end = b->p.drv.avail;
	for (unsigned int i = 0; i < n; i++) {
		CU_ASSERT_EQUAL_FATAL(pvq_pair_take(&b->p, &chain), 1);
		b->entry[n - 1 - i].elem = (struct pvq_used_elem){
			.id = chain.id,
			.ndesc = ndesc,
			.len = i == 1 ? 0 : 8 + i,
		};
	}
	for (unsigned int i = 0; i < n; i++) {
		b->entry[i].pos = b->first + i * ndesc;
		b->entry[i].payload = b->entry[i].pos + 1;
	}
}

/* Write the payloads, then give all back: what the explorer looks at. */
static void
flush(struct batch *b, const struct variant *v)
{
	record_begin();
	for (unsigned int i = 0; i < b->n; i++) {
		const struct entry *e = &b->entry[i];

		pvq_store(&b->payload[e->elem.id], e->payload);
		pvq_packed_push_used(&b->p.dev, e->elem.id, e->elem.len, e->elem.ndesc);
	}
	v->flush(b);
	record_end();
}

/* What a flush of the product has to consist of, besides being safe. */
static void
check_product(const struct batch *b)
{
	const struct record_step *last = &recording.step[recording.n - 1];
	unsigned int barrier = b->n; /* after the payloads */

	CU_ASSERT_EQUAL_FATAL(recording.n, 2 * b->n + 1);
	CU_ASSERT_EQUAL(recording.step[barrier].kind, RECORD_WRITE_BARRIER);
	CU_ASSERT_EQUAL(record_count(RECORD_STORE), 2 * b->n);
	CU_ASSERT_PTR_EQUAL(last->at, pvq_packed_word(desc_of(b, 0)));
	for (unsigned int i = barrier + 1; i < recording.n; i++)
		CU_ASSERT_EQUAL(recording.step[i].size, 8);
	/* the others in their order */
	for (unsigned int i = 1; i < b->n; i++)
		CU_ASSERT_PTR_EQUAL(recording.step[barrier + i].at, pvq_packed_word(desc_of(b, i)));
}

static void
try_batch(const struct variant *v, uint16_t size, uint64_t start, unsigned int n, uint16_t ndesc)
{
	struct explored poll, peek;
	struct batch b;

	pvq_pair_init(&b.p, size, 0, false);
	b.payload = pvq_pair_add_memory(&b.p, MEM_ADDR, size * sizeof(b.payload[0]));
	while (b.p.drv.used < start) {
		struct pvq_driver_used used;

		take_buffers(&b, 1, 1);
		flush(&b, &product);
		CU_ASSERT_TRUE_FATAL(pvq_driver_poll(&b.p.drv, &used));
	}
	take_buffers(&b, n, ndesc);
	flush(&b, v);
	if (v == &product)
		check_product(&b);
	poll = explore(poller, &b);
	peek = explore(peeker, &b);
	CU_ASSERT_EQUAL(poll.bad > 0, v->poller_misled > 0 && n >= v->poller_misled);
	CU_ASSERT_EQUAL(peek.bad > 0, v->peeker_misled > 0 && n >= v->peeker_misled);
	CU_ASSERT_EQUAL(poll.images, peek.images);
	/* At the least, all stores may have arrived, or none. */
	CU_ASSERT_TRUE(poll.images >= 2);
	pvq_pair_fini(&b.p);
}

/* From every slot of two laps and a half, and so over the end in every way. */
static void
try_variant(const struct variant *v)
{
	static const uint16_t sizes[] = { 1, 2, 3, 5, 8 };

	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (uint16_t ndesc = 1; ndesc <= 2; ndesc++)
			for (unsigned int n = 1; n <= MAX_BATCH && n * ndesc <= sizes[s]; n++) {
				/* 2^19 images each: a few will do */
				unsigned int step = n == MAX_BATCH ? sizes[s] - 2 : 1;

				for (uint64_t start = 0; start <= 2u * sizes[s] + 1; start += step)
					try_batch(v, sizes[s], start, n, ndesc);
			}
}

static void
the_flush_is_safe(void)
{
	try_variant(&product);
}

static void
known_answers(void)
{
	for (const struct variant *v = variants; v->name != NULL; v++) {
		unsigned int failures = CU_get_number_of_failures();

		try_variant(v);
		if (CU_get_number_of_failures() != failures)
			fprintf(stderr, "\n  variant: %s", v->name);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "the flush is safe for both readers, its head is last", the_flush_is_safe },
		{ "known answers", known_answers },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("explorer: flush", tests);
}
