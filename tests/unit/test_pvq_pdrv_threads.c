/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Packed ring, both halves, a thread each: every buffer's content is checked on both sides, with
 * both polling, and with both asleep until the other side tells them.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "pvq_packed_rig.h"
#include "pvq_wake.h"

#define BURST 16

struct traffic {
	struct pvq_rig *rig;
	uint16_t max; /* segments of a buffer */
	struct pvq_wake wake;
};

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
			pvq_wake_check(&t->wake, false);
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

	while (pvq_wake_goes_on(&t->wake, served)) {
		unsigned int n = serve(t, served);

		served += n;
		if (pvq_packed_must_call(dev)) {
			t->wake.ncalls++;
			pvq_wake_up(t->wake.call);
		}
		if (n > 0)
			continue;
		if (t->wake.events && pvq_packed_enable_kick(dev, NULL))
			pvq_wake_sleep(&t->wake, t->wake.kick);
		else
			sched_yield();
		if (t->wake.events)
			pvq_packed_disable_kick(dev, NULL);
	}
	pvq_wake_up(t->wake.call);
	return NULL;
}

/* Put a burst, or what there is room for, and show it at once. */
static unsigned int
send_burst(struct traffic *t, uint64_t seq)
{
	unsigned int n;

	for (n = 0; n < BURST && seq + n < t->wake.count; n++)
		if (pvq_rig_send(t->rig, seq + n, t->max) < 0)
			break;
	pvq_packed_publish(&t->rig->drv);
	if (pvq_packed_must_kick(&t->rig->drv)) {
		t->wake.nkicks++;
		pvq_wake_up(t->wake.kick);
	}
	return n;
}

/* All buffers come back in the order they were sent: the device serves them in order. */
static void
drive(struct traffic *t)
{
	struct pvq_packed_drv *drv = &t->rig->drv;
	uint64_t sent = 0, received = 0, seq;

	while (pvq_wake_goes_on(&t->wake, received)) {
		unsigned int n = send_burst(t, sent);
		int ret;

		sent += n;
		while ((ret = pvq_rig_receive(t->rig, t->max, &seq)) != 0) {
			if (ret < 0 || seq != received++)
				pvq_wake_check(&t->wake, false);
			n++;
		}
		if (drv->broken)
			pvq_wake_check(&t->wake, false);
		if (n > 0)
			continue;
		if (t->wake.events && (received / 64 % 2 ? pvq_packed_enable_cb(drv)
							 : pvq_packed_enable_cb_delayed(drv)))
			pvq_wake_sleep(&t->wake, t->wake.call);
		else
			sched_yield();
		/* The event follows what is taken back for a while, then calls are off again. */
		if (t->wake.events && received / 32 % 2)
			pvq_packed_disable_cb(drv);
	}
	pvq_wake_up(t->wake.kick);
}

static void
pass(uint16_t size, unsigned int flags, uint16_t max, uint64_t count, bool events)
{
	struct pvq_rig rig;
	struct traffic t = {
		.rig = &rig,
		.max = max < size ? max : size,
		.wake = { .count = count,
				.events = events,
				.kick = eventfd(0, 0),
				.call = eventfd(0, 0) },
	};
	pthread_t thread;

	pvq_rig_init(&rig, size, size - 1, flags);
	pvq_packed_disable_kick(&rig.dev, NULL);
	pvq_packed_disable_cb(&rig.drv);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, device, &t), 0);
	drive(&t);
	pthread_join(thread, NULL);
	CU_ASSERT_FALSE(t.wake.failed);
	CU_ASSERT_EQUAL(pvq_packed_capacity(&rig.drv), size);
	if (!events)
		CU_ASSERT_TRUE(t.wake.nkicks == 0 && t.wake.ncalls == 0);
	close(t.wake.kick);
	close(t.wake.call);
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
