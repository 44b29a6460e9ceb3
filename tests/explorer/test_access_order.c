/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Barriers A to D of the split ring's halves and the packed driver: which shared words each verb
 * loads and stores, and what stands between. Each step of a recording is a letter: s store,
 * r store-release, l load, a load-acquire, F full fence, R read and W write barrier.
 */

#include <string.h>

#include "explore.h"
#include "pvq_packed_rig.h"
#include "pvq_split_rig.h"

static struct pvq_rig packed;
static struct split_rig split;

static const char *
letters(void)
{
	static char text[EXPLORE_MAX_STEPS + 1];

	for (unsigned int i = 0; i < recording.n; i++) {
		const struct record_step *s = &recording.step[i];
		const char kinds[] = { [RECORD_STORE] = s->ordered ? 'r' : 's',
			[RECORD_LOAD] = s->ordered ? 'a' : 'l',
			[RECORD_READ_BARRIER] = 'R',
			[RECORD_WRITE_BARRIER] = 'W',
			[RECORD_FULL_FENCE] = 'F' };

		text[i] = kinds[s->kind];
	}
	text[recording.n] = '\0';
	return text;
}

#define DOES(what, steps)                                                                          \
	do {                                                                                       \
		record_begin();                                                                    \
		what;                                                                              \
		record_end();                                                                      \
		CU_ASSERT_STRING_EQUAL(letters(), steps);                                          \
	} while (0)

static void
split_device(void)
{
	struct pvq_single single[4];
	struct pvq_chain chain;

	for (unsigned int flags = 0; flags < 2; flags++) {
		split_rig_init(&split, 8, 65534, flags);
		for (unsigned int i = 0; i < 4; i++)
			pvq_split_add(&split.drv, split_rig_segs(1, 0), 1, &split);
		/* A, and the index is not read again while buffers are known to wait */
		DOES(pvq_split_next_singles(&split.dev, single, 2, true), "allllll");
		DOES(split_rig_take(&split, &chain), "lll");
		DOES(pvq_split_push_used(&split.dev, chain.id, 1), "ss");
		DOES(pvq_split_push_singles(&split.dev, single, 2, true), "ssss");
		DOES(pvq_split_flush_used(&split.dev, NULL), "r"); /* B */
		DOES(pvq_split_must_call(&split.dev), "Fl");       /* C */
		DOES(pvq_split_must_call(&split.dev), "");
		DOES(split_rig_take(&split, &chain), "lll");
		DOES(split_rig_take(&split, &chain), "a");
		DOES(pvq_split_enable_kick(&split.dev, NULL), "sFa"); /* D */
		DOES(pvq_split_disable_kick(&split.dev, NULL), flags ? "" : "s");
		split_rig_fini(&split);
	}
}

static void
split_driver(void)
{
	uint32_t len;

	for (unsigned int flags = 0; flags < 2; flags++) {
		split_rig_init(&split, 8, 65534, flags);
		DOES(pvq_split_put(&split.drv, split_rig_segs(2, 1), 2, &split), "sssss");
		DOES(pvq_split_publish(&split.drv), "r");    /* A */
		DOES(pvq_split_must_kick(&split.drv), "Fl"); /* D */
		DOES(pvq_split_must_kick(&split.drv), "");
		DOES(pvq_split_next_used(&split.drv, &len), "a"); /* B */
		split_rig_serve(&split, 0);
		/* C, when calls are asked for by index */
		DOES(pvq_split_next_used(&split.drv, &len), flags ? "allsF" : "all");
		DOES(pvq_split_disable_cb(&split.drv), "s");
		DOES(pvq_split_disable_cb(&split.drv), "");
		DOES(pvq_split_enable_cb(&split.drv), "sFa"); /* C */
		DOES(pvq_split_enable_cb_delayed(&split.drv), "sFa");
		split_rig_fini(&split);
	}
}

static void
packed_driver(void)
{
	struct pvq_chain chain;
	uint32_t len;

	for (unsigned int flags = 0; flags <= RIG_IN_ORDER; flags++) {
		pvq_rig_init(&packed, 5, 4, flags);
		/* The head's word is kept back. */
		DOES(pvq_packed_put(&packed.drv, pvq_rig_segs(2, 1), 2, &packed), "sss");
		DOES(pvq_packed_publish(&packed.drv), "r");    /* A */
		DOES(pvq_packed_must_kick(&packed.drv), "Fl"); /* D */
		DOES(pvq_packed_must_kick(&packed.drv), "");
		DOES(pvq_packed_next_used(&packed.drv, &len), "a"); /* B */
		CU_ASSERT_EQUAL(pvq_rig_take(&packed, &chain), 1);
		pvq_rig_use(&packed, &chain, 0);
		DOES(pvq_packed_next_used(&packed.drv, &len), "a");
		DOES(pvq_packed_disable_cb(&packed.drv), "s");
		DOES(pvq_packed_disable_cb(&packed.drv), "");
		DOES(pvq_packed_enable_cb(&packed.drv), "sFl"); /* C */
		DOES(pvq_packed_enable_cb_delayed(&packed.drv), "sFl");
		pvq_rig_fini(&packed);
	}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "split ring, device", split_device },
		{ "split ring, driver", split_driver },
		{ "packed ring, driver", packed_driver },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("explorer: order of accesses", tests);
}
