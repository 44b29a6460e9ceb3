/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, both halves, a thread each: every buffer's content is checked on both sides, with
 * both polling, and with both asleep until the other side tells them.
 */

#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pvq_packed_rig.h"

#define BURST 16
#define LOST_MS 20000 /* a wake-up that has not come by then never will */

struct traffic {
	struct pvq_rig *rig;
	uint64_t count; /* buffers to pass */
	uint16_t max;   /* segments of a buffer */
	bool events;
	int kick, call; /* eventfds */
	unsigned int nkicks, ncalls;
	bool failed; /* on either side; both give up */
};

static void
fail(struct traffic *t)
{
	__atomic_store_n(&t->failed, true, __ATOMIC_RELAXED);
}

static bool
goes_on(struct traffic *t, uint64_t done)
{
	return done < t->count && !__atomic_load_n(&t->failed, __ATOMIC_RELAXED);
}

static void
wake(int fd)
{
	if (eventfd_write(fd, 1) < 0)
		err(1, "eventfd");
}

static void
sleep_on(struct traffic *t, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	eventfd_t value;

	if (poll(&p, 1, LOST_MS) != 1 || eventfd_read(fd, &value) < 0)
		fail(t);
}

/* Take and answer what there is, at most a burst. */
static unsigned int
serve(struct traffic *t, uint64_t seq)
{
	struct pvq_packed_dev *dev = &t->rig->dev;
	unsigned int n;

	for (n = 0; n < BURST; n++) {
		struct pvq_chain chain;
		int ret = pvq_rig_take(t->rig, &chain);
		int64_t len;

		if (ret == 0)
			break;
		len = ret < 0 ? -1 : pvq_rig_answer(t->rig, seq + n, t->max, &chain);
		if (len < 0)
			fail(t);
		if (t->rig->flags & RIG_IN_ORDER)
			pvq_packed_push_in_order(dev, chain.id, len, chain.ndesc);
		else
			pvq_packed_push_used(dev, chain.id, len, chain.ndesc);
	}
	pvq_packed_flush_used(dev, NULL);
	return n;
}

static void *
device(void *arg)
{
	struct traffic *t = arg;
	struct pvq_packed_dev *dev = &t->rig->dev;
	uint64_t served = 0;

	while (goes_on(t, served)) {
		unsigned int n = serve(t, served);

		served += n;
		if (pvq_packed_must_call(dev)) {
			t->ncalls++;
			wake(t->call);
		}
		if (n > 0)
			continue;
		if (t->events && pvq_packed_enable_kick(dev, NULL))
			sleep_on(t, t->kick);
		else
			sched_yield();
		if (t->events)
			pvq_packed_disable_kick(dev, NULL);
	}
	wake(t->call);
	return NULL;
}

/* Put a burst, or what there is room for, and show it at once. */
static unsigned int
send_burst(struct traffic *t, uint64_t seq)
{
	unsigned int n;

	for (n = 0; n < BURST && seq + n < t->count; n++)
		if (pvq_rig_send(t->rig, seq + n, t->max) < 0)
			break;
	pvq_packed_publish(&t->rig->drv);
	if (pvq_packed_must_kick(&t->rig->drv)) {
		t->nkicks++;
		wake(t->kick);
	}
	return n;
}

/* All buffers come back in the order they were sent: the device serves them in order. */
static void
drive(struct traffic *t)
{
	struct pvq_packed_drv *drv = &t->rig->drv;
	uint64_t sent = 0, received = 0, seq;

	while (goes_on(t, received)) {
		unsigned int n = send_burst(t, sent);
		int ret;

		sent += n;
		while ((ret = pvq_rig_receive(t->rig, t->max, &seq)) != 0) {
			if (ret < 0 || seq != received++)
				fail(t);
			n++;
		}
		if (drv->broken)
			fail(t);
		if (n > 0)
			continue;
		if (t->events && (received / 64 % 2 ? pvq_packed_enable_cb(drv)
						    : pvq_packed_enable_cb_delayed(drv)))
			sleep_on(t, t->call);
		else
			sched_yield();
		/* The event follows what is taken back for a while, then calls are off again. */
		if (t->events && received / 32 % 2)
			pvq_packed_disable_cb(drv);
	}
	wake(t->kick);
}

static void
pass(uint16_t size, unsigned int flags, uint16_t max, uint64_t count, bool events)
{
	struct pvq_rig rig;
	struct traffic t = {
		.rig = &rig,
		.count = count,
		.max = max < size ? max : size,
		.events = events,
		.kick = eventfd(0, 0),
		.call = eventfd(0, 0),
	};
	pthread_t thread;

	pvq_rig_init(&rig, size, size - 1, flags);
	pvq_packed_disable_kick(&rig.dev, NULL);
	pvq_packed_disable_cb(&rig.drv);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, device, &t), 0);
	drive(&t);
	pthread_join(thread, NULL);
	CU_ASSERT_FALSE(t.failed);
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), size);
	if (!events)
		CU_ASSERT_TRUE(t.nkicks == 0 && t.ncalls == 0);
	close(t.kick);
	close(t.call);
	pvq_rig_fini(&rig);
}

static void
both_poll(void)
{
	static const uint16_t sizes[] = { 256, 5 };

	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++)
			if (!(flags & RIG_EVENT_IDX)) {
				pass(sizes[i], flags, 1, 200000, false);
				pass(sizes[i], flags, 8, 60000, false);
			}
}

/* Kicks and calls are wanted, and not, all the time: none is left out that someone waits for. */
static void
nt03_both_sleep(void)
{
	static const uint16_t sizes[] = { 256, 16, 3, 1 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned int flags = 0; flags <= RIG_ALL_FLAGS; flags++) {
			pass(sizes[i], flags, 1, 40 * (sizes[i] + 100), true);
			pass(sizes[i], flags, 4, 40 * (sizes[i] + 100), true);
		}
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "both poll", both_poll },
		{ "NT03 both sleep, and no kick or call is lost", nt03_both_sleep },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq packed driver: threads", tests);
}
