/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Barriers C and D: a driver and a device that each store one thing and then look for the
 * other's. Never may both find nothing. The clock ends a test, but decides nothing.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pvq_driver.h"

#define SECONDS 0.7 /* for one race */

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Where two threads wait for each other, without sleeping as long as both have a core. */
static unsigned int arrived;

static void
meet(unsigned int *times)
{
	unsigned int spins = 0;

	*times += 2;
	__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
	while ((int)(pvq_load_acquire(&arrived) - *times) < 0)
		if (++spins % 1024 == 0)
			sched_yield();
}

/* Many rings of one slot, on cache lines of their own: both threads run along them at the same
 * time, and somewhere on the way they are at the same ring.
 */
#define CELLS 256

struct cell {
	_Alignas(64) struct vring_packed_desc desc;
	_Alignas(64) struct vring_packed_desc_event driver_event;
	_Alignas(64) struct vring_packed_desc_event device_event;
	_Alignas(64) struct pvq_packed_dev dev;
	bool device_acted;              /* it called, or went on polling */
	_Alignas(64) bool driver_acted; /* it saw the buffer used, or kicked */
};

/* What each side does with every cell in one round; wrap counter: that of this round's lap. */
struct race {
	void (*driver_before)(struct cell *cell, bool wrap);
	void (*device_before)(struct cell *cell);
	void (*driver)(struct cell *cell, bool wrap);
	void (*device)(struct cell *cell);
	void (*device_after)(struct cell *cell);
};

static struct cell *cells;
static bool stop;
static uint64_t lost;

static void
make_available(struct cell *cell, bool wrap)
{
	pvq_store_release(pvq_packed_word(&cell->desc),
			pvq_packed_word_make(60, 0, wrap ? 0x0080 : 0x8000));
}

static void
take(struct cell *cell)
{
	struct pvq_single single;

	if (pvq_packed_next_singles(&cell->dev, &single, 1, false) != 1)
		abort();
}

static void
complete(struct cell *cell)
{
	pvq_packed_push_used(&cell->dev, 0, 0, 1);
	pvq_packed_flush_used(&cell->dev, NULL);
}

/* C: the driver arms, then looks once more; the device gives back, then asks. */
static void
c_driver_before(struct cell *cell, bool wrap)
{
	pvq_store(pvq_packed_event_word(&cell->driver_event),
			(uint32_t)VRING_PACKED_EVENT_FLAG_DISABLE << 16);
	make_available(cell, wrap);
}

static void
c_driver(struct cell *cell, bool wrap)
{
	uint32_t flags = (cell - cells) % 2 ? VRING_PACKED_EVENT_FLAG_DESC
					    : VRING_PACKED_EVENT_FLAG_ENABLE;

	pvq_store(pvq_packed_event_word(&cell->driver_event), flags << 16 | (wrap ? 0x8000 : 0));
	pvq_full_fence();
	cell->driver_acted = (pvq_packed_word_flags(pvq_load(pvq_packed_word(&cell->desc))) &
					     0x8080) == (wrap ? 0x8080 : 0);
}

static void
c_device(struct cell *cell)
{
	complete(cell);
	cell->device_acted = pvq_packed_must_call(&cell->dev);
}

static void
nothing(struct cell *cell)
{
	(void)cell;
}

/* D: the device arms, then looks once more; the driver makes available, then asks. */
static void
d_driver_before(struct cell *cell, bool wrap)
{
	(void)cell;
	(void)wrap;
}

static void
d_device_before(struct cell *cell)
{
	pvq_packed_disable_kick(&cell->dev, NULL);
}

static void
d_driver(struct cell *cell, bool wrap)
{
	make_available(cell, wrap);
	pvq_full_fence();
	cell->driver_acted = pvq_load(pvq_packed_event_word(&cell->device_event)) >> 16 !=
			     VRING_PACKED_EVENT_FLAG_DISABLE;
}

static void
d_device(struct cell *cell)
{
	cell->device_acted = !pvq_packed_enable_kick(&cell->dev, NULL);
}

static void
d_device_after(struct cell *cell)
{
	take(cell);
	complete(cell);
}

static struct race race_c = {
	.driver_before = c_driver_before,
	.device_before = take,
	.driver = c_driver,
	.device = c_device,
	.device_after = nothing,
};
static struct race race_d = {
	.driver_before = d_driver_before,
	.device_before = d_device_before,
	.driver = d_driver,
	.device = d_device,
	.device_after = d_device_after,
};

static void *
race_device(void *arg)
{
	struct race *race = arg;
	unsigned int times = 0;

	for (;;) {
		meet(&times); /* the driver is prepared */
		if (stop)
			return NULL;
		for (unsigned int i = 0; i < CELLS; i++)
			race->device_before(&cells[i]);
		meet(&times);
		for (unsigned int i = 0; i < CELLS; i++)
			race->device(&cells[i]);
		meet(&times);
		for (unsigned int i = 0; i < CELLS; i++)
			race->device_after(&cells[i]);
	}
}

static void
race_driver(const struct race *race)
{
	double end = now() + SECONDS;
	unsigned int times = 0;

	for (bool wrap = true;; wrap = !wrap) {
		for (unsigned int i = 0; i < CELLS; i++)
			race->driver_before(&cells[i], wrap);
		stop = now() > end;
		meet(&times);
		if (stop)
			return;
		meet(&times);
		for (unsigned int i = 0; i < CELLS; i++)
			race->driver(&cells[i], wrap);
		meet(&times);
		for (unsigned int i = 0; i < CELLS; i++)
			lost += !cells[i].device_acted && !cells[i].driver_acted;
	}
}

static void
run_race(struct race *race)
{
	struct pvq_mem no_mem;
	pthread_t thread;

	pvq_mem_init(&no_mem, NULL, 0);
	cells = aligned_alloc(64, CELLS * sizeof(cells[0]));
	memset(cells, 0, CELLS * sizeof(cells[0]));
	for (unsigned int i = 0; i < CELLS; i++) {
		const struct pvq_packed_dev_conf conf = {
			.desc = &cells[i].desc,
			.driver_event = &cells[i].driver_event,
			.device_event = &cells[i].device_event,
			.size = 1,
			.base = { 0, true },
			.event_idx = i % 2,
			.mem = &no_mem,
		};

		CU_ASSERT_EQUAL_FATAL(pvq_packed_dev_init(&cells[i].dev, &conf), 0);
		cells[i].dev.nb_unsignalled = 0;
	}
	arrived = 0;
	lost = 0;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, race_device, race), 0);
	race_driver(race);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(lost, 0);
	for (unsigned int i = 0; i < CELLS; i++)
		pvq_packed_dev_fini(&cells[i].dev);
	free(cells);
}

static void
nt01_no_call_is_lost(void)
{
	run_race(&race_c);
}

static void
no_kick_is_lost(void)
{
	run_race(&race_d);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "NT01 barrier C: no call is lost", nt01_no_call_is_lost },
		{ "barrier D: no kick is lost", no_kick_is_lost },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq races", tests);
}
