/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A driver that rewrites what the device reads at the same time: each word is read once, whole. */

#include <pthread.h>
#include <stdlib.h>

#include "pvq_driver.h"

#define MEM_ADDR 0x10000

static struct pvq_pair p;
static bool stop;

static pthread_t
start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) != 0)
		abort();
	return thread;
}

/* PT03. The offset changes between two slots that are not due; half of one and half of the other
 * is.
 */
static void *
pt03_driver(void *arg)
{
	uint16_t *off_wrap = &p.drv.driver_event->off_wrap;

	while (!pvq_load(&stop)) {
		pvq_store(off_wrap, 0x00ff);
		pvq_store(off_wrap, 0x8100);
	}
	return arg;
}

static void
pt03_event_read_whole(void)
{
	unsigned int torn = 0;
	pthread_t thread;

	pvq_pair_init(&p, 512, 0, true);
	pvq_store(pvq_packed_event_word(p.drv.driver_event),
			0x8100 | (uint32_t)VRING_PACKED_EVENT_FLAG_DESC << 16);
	stop = false;
	thread = start(pt03_driver, NULL);
	for (unsigned int i = 0; i < 500000; i++) {
		/* slots 511 of one lap and 0 of the next: 0x81ff and 0x0000 */
		p.dev.used = (struct pvq_cursor){ .idx = 1, .wrap = false };
		p.dev.nb_unsignalled = 2;
		torn += pvq_packed_must_call(&p.dev);
	}
	pvq_store(&stop, true);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(torn, 0);
	pvq_pair_fini(&p);
}

/* Slot 0 changes its shape all the time; what is taken is one of the shapes, never a mixture. */
static const uint64_t shapes[] = {
	/* len, id, flags */
	0x0080111100000020, /* to read */
	0x0082222200000030, /* to write */
	0x0081333300000040, /* a chain with slot 1 */
	0x0084444400000010, /* a table of one */
};

static void *
shape_driver(void *arg)
{
	for (unsigned int i = 0; !pvq_load(&stop); i++)
		pvq_store_release(pvq_packed_word(&p.drv.desc[0]), shapes[i % 4]);
	return arg;
}

static bool
is_a_shape(const struct pvq_chain *c)
{
	const struct pvq_seg *s = c->segs;

	switch (c->id) {
	case 0x1111:
		return c->ndesc == 1 && c->nsegs == 1 && s[0].len == 0x20 && !s[0].write;
	case 0x2222:
		return c->ndesc == 1 && c->nsegs == 1 && s[0].len == 0x30 && s[0].write;
	case 0x4444:
		return c->ndesc == 1 && c->nsegs == 1 && s[0].len == 0x99 && s[0].write;
	case 0x5555:
		return c->ndesc == 2 && c->nsegs == 2 && s[0].len == 0x40 && s[1].len == 0x50;
	default:
		return false;
	}
}

static void
every_field_is_read_once(void)
{
	const struct vring_packed_desc entry = { .len = 0x99, .flags = VRING_DESC_F_WRITE };
	struct pvq_packed_mark mark;
	unsigned int mixed = 0;
	pthread_t thread;

	pvq_pair_init(&p, 2, 0, false);
	*(struct vring_packed_desc *)pvq_pair_add_memory(&p, MEM_ADDR, sizeof(entry)) = entry;
	pvq_driver_write(&p.drv, 1, 0, 0x50, 0x5555, 0x0080);
	pvq_driver_write(&p.drv, 0, MEM_ADDR, 0x20, 0x1111, 0x0080);
	mark = pvq_packed_mark(&p.dev);
	stop = false;
	thread = start(shape_driver, NULL);
	for (unsigned int i = 0; i < 300000; i++) {
		struct pvq_chain chain;
		struct pvq_single s;

		mixed += pvq_pair_take(&p, &chain) != 1 || !is_a_shape(&chain);
		pvq_packed_rewind(&p.dev, mark);
		if (pvq_packed_next_singles(&p.dev, &s, 1, i % 2) == 1)
			mixed += i % 2 ? s.id != 0x2222 || s.len != 0x30
				       : s.id != 0x1111 || s.len != 0x20;
		pvq_packed_rewind(&p.dev, mark);
	}
	pvq_store(&stop, true);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(mixed, 0);
	pvq_pair_fini(&p);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "PT03 the event is read whole", pt03_event_read_whole },
		{ "every field is read once", every_field_is_read_once },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq torn reads", tests);
}
