/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Positions, flags and words of a packed ring, against counting slots from 0 up. */

#include <string.h>

#include "pvq_driver.h"

static const uint16_t sizes[] = { 1, 2, 3, 5, 8, 256, 1000, 32768 };

#define FOREACH_SIZE(size)                                                                         \
	for (const uint16_t *s_ = sizes; s_ < sizes + sizeof(sizes) / sizeof(sizes[0]); s_++)      \
		for (uint16_t size = *s_, once_ = 1; once_; once_ = 0)

static struct pvq_cursor
model(uint64_t pos, uint16_t size)
{
	return (struct pvq_cursor){ .idx = pos % size, .wrap = pos / size % 2 == 0 };
}

static bool
same(struct pvq_cursor a, struct pvq_cursor b)
{
	return a.idx == b.idx && a.wrap == b.wrap;
}

/* From every slot of two laps by every step, or by a sample of both for a large ring. */
static void
advance_one(void)
{
	FOREACH_SIZE(size)
	{
		uint32_t stride = size > 8 ? size / 5 : 1;

		for (uint32_t pos = 0; pos < 2u * size; pos += stride) {
			for (uint32_t n = 0; n <= size; n += stride) {
				struct pvq_cursor c = model(pos, size);

				pvq_cursor_advance(&c, n, size);
				CU_ASSERT_FATAL(same(c, model(pos + n, size)));
			}
		}
	}
}

static void
advance_many_laps(void)
{
	uint64_t rng = 1;

	FOREACH_SIZE(size)
	{
		struct pvq_cursor c = model(0, size);
		uint64_t pos = 0;

		while (pos < 200u * size) {
			uint32_t n = pvq_rand_below(&rng, size + 1u);

			pvq_cursor_advance(&c, n, size);
			pos += n;
			CU_ASSERT_FATAL(same(c, model(pos, size)));
		}
	}
}

/* A free-running 16-bit count would go wrong at 65,536. */
static void
pk05_one_by_one_past_65536(void)
{
	FOREACH_SIZE(size)
	{
		struct pvq_cursor c = model(0, size);

		for (uint32_t pos = 0; pos < 140000; pos++) {
			CU_ASSERT_FATAL(same(c, model(pos, size)));
			pvq_cursor_advance(&c, 1, size);
		}
	}
}

static void
pack(void)
{
	for (uint32_t v = 0; v <= UINT16_MAX; v++) {
		struct pvq_cursor c = { .idx = v & 0x7fff, .wrap = v & 0x8000 };

		CU_ASSERT_FATAL(pvq_cursor_pack(c) == v);
		CU_ASSERT_FATAL(same(pvq_cursor_unpack(v), c));
	}
}

static void
distance_between(uint32_t from, uint32_t to, uint16_t size)
{
	uint32_t want = (to + 2u * size - from) % (2u * size);

	CU_ASSERT_FATAL(pvq_cursor_distance(model(from, size), model(to, size), size) == want);
}

static void
distance(void)
{
	uint64_t rng = 2;

	FOREACH_SIZE(size)
	{
		uint32_t lap = 2u * size;

		if (size <= 8)
			for (uint32_t i = 0; i < lap * lap; i++)
				distance_between(i / lap, i % lap, size);
		for (uint32_t i = 0; i < 20000; i++)
			distance_between(
					pvq_rand_below(&rng, lap), pvq_rand_below(&rng, lap), size);
	}
}

/* What a driver writes may point anywhere: the result stays within its range. */
static void
distance_from_beyond_the_ring(void)
{
	FOREACH_SIZE(size)
	{
		for (uint32_t v = 0; v <= UINT16_MAX; v++) {
			struct pvq_cursor c = pvq_cursor_unpack(v);

			CU_ASSERT_FATAL(pvq_cursor_distance(c, model(0, size), size) < 2u * size);
		}
	}
}

static void
flags(void)
{
	CU_ASSERT_EQUAL(pvq_packed_avail_flags(true), 0x0080);
	CU_ASSERT_EQUAL(pvq_packed_avail_flags(false), 0x8000);
	CU_ASSERT_EQUAL(pvq_packed_used_flags(true), 0x8080);
	CU_ASSERT_EQUAL(pvq_packed_used_flags(false), 0x0000);
	CU_ASSERT_EQUAL(PVQ_F_NEXT, 1);
	CU_ASSERT_EQUAL(PVQ_F_WRITE, 2);
	CU_ASSERT_EQUAL(PVQ_F_INDIRECT, 4);
}

/* A word is what the kernel's struct has in its second half. */
static void
words(void)
{
	const struct vring_packed_desc desc = {
		.addr = 0x0102030405060708,
		.len = 0x11223344,
		.id = 0x5566,
		.flags = 0x7788,
	};
	struct vring_packed_desc copy = desc;
	uint64_t word;

	CU_ASSERT_PTR_EQUAL(pvq_packed_word(&copy), (uint8_t *)&copy + 8);
	memcpy(&word, (const uint8_t *)&desc + 8, sizeof(word));
	CU_ASSERT_EQUAL(pvq_packed_word_make(desc.len, desc.id, desc.flags), word);
	CU_ASSERT_EQUAL(pvq_packed_word_len(word), desc.len);
	CU_ASSERT_EQUAL(pvq_packed_word_id(word), desc.id);
	CU_ASSERT_EQUAL(pvq_packed_word_flags(word), desc.flags);
	word = pvq_packed_word_make(UINT32_MAX, 0, 0);
	CU_ASSERT_EQUAL(word, UINT32_MAX);
	word = pvq_packed_word_make(0, 0, UINT16_MAX);
	CU_ASSERT_EQUAL(word, 0xffff000000000000);
}

/* WRITE tells a driver whether len means anything (2.8.9). */
static void
used_words(void)
{
	const struct pvq_used_elem empty = { .len = 0, .id = 7, .ndesc = 1 };
	const struct pvq_used_elem full = { .len = 60, .id = 0xffff, .ndesc = 3 };

	CU_ASSERT_EQUAL(pvq_packed_used_word(&empty, true), 0x8080000700000000);
	CU_ASSERT_EQUAL(pvq_packed_used_word(&empty, false), 0x0000000700000000);
	CU_ASSERT_EQUAL(pvq_packed_used_word(&full, true), 0x8082ffff0000003c);
	CU_ASSERT_EQUAL(pvq_packed_used_word(&full, false), 0x0002ffff0000003c);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "advance: every slot, every step", advance_one },
		{ "advance: 200 laps of random steps", advance_many_laps },
		{ "PK05 one by one past 65,536", pk05_one_by_one_past_65536 },
		{ "pack and unpack", pack },
		{ "distance", distance },
		{ "distance from beyond the ring", distance_from_beyond_the_ring },
		{ "flags", flags },
		{ "words", words },
		{ "used words", used_words },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq cursor", tests);
}
