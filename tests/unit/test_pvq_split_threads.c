/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Split ring, both halves, a thread each: what the device reads is what the driver wrote, and the
 * other way round, with both polling, and with both asleep until the other side tells them.
 */

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "pvq_split_rig.h"
#include "pvq_wake.h"

#define BURST 16

struct traffic {
	struct split_rig rig;
	struct pvq_wake wake;
};

/* Buffers come back in order, so a place is free again when its number is. */
static uint64_t *
place(struct traffic *t, uint64_t seq)
{
	return (uint64_t *)(void *)t->rig.data + seq % t->rig.size * 2;
}

static unsigned int
serve(struct traffic *t, uint64_t seq)
{
	unsigned int n;

	for (n = 0; n < BURST; n++) {
		uint64_t *word = place(t, seq + n);
		struct pvq_chain chain;
		int ret = split_rig_take(&t->rig, &chain);

		if (ret == 0)
			break;
		pvq_wake_check(&t->wake, ret == 1 && chain.nsegs == 2 && chain.segs[1].write &&
							 word[0] == seq + n);
		word[1] = ~(seq + n);
		pvq_split_push_used(&t->rig.dev, chain.id, 8);
	}
	pvq_split_flush_used(&t->rig.dev, NULL);
	return n;
}

static void *
device(void *arg)
{
	struct traffic *t = arg;
	struct pvq_split_dev *dev = &t->rig.dev;
	uint64_t served = 0;

	while (pvq_wake_goes_on(&t->wake, served)) {
		unsigned int n = serve(t, served);

		served += n;
		if (pvq_split_must_call(dev)) {
			t->wake.ncalls++;
			pvq_wake_up(t->wake.call);
		}
		pvq_wake_check(&t->wake, !dev->broken);
		if (n > 0)
			continue;
		if (t->wake.events && pvq_split_enable_kick(dev, NULL))
			pvq_wake_sleep(&t->wake, t->wake.kick);
		else
			sched_yield();
		if (t->wake.events)
			pvq_split_disable_kick(dev, NULL);
	}
	pvq_wake_up(t->wake.call);
	return NULL;
}

static unsigned int
send_burst(struct traffic *t, uint64_t seq)
{
	unsigned int n;

	for (n = 0; n < BURST && seq + n < t->wake.count; n++) {
		uint64_t at = SPLIT_DATA_ADDR + (seq + n) % t->rig.size * 16;
		struct pvq_seg segs[] = { { at, 8, false }, { at + 8, 8, true } };

		if (pvq_split_capacity(&t->rig.drv) < split_rig_slots(&t->rig, 2))
			break;
		place(t, seq + n)[0] = seq + n;
		pvq_wake_check(&t->wake,
				pvq_split_put(&t->rig.drv, segs, 2, split_rig_token(seq + n)) == 0);
	}
	pvq_split_publish(&t->rig.drv);
	if (pvq_split_must_kick(&t->rig.drv)) {
		t->wake.nkicks++;
		pvq_wake_up(t->wake.kick);
	}
	return n;
}

static void
drive(struct traffic *t)
{
	struct pvq_split_drv *drv = &t->rig.drv;
	uint64_t sent = 0, received = 0;
	uint32_t len;
	void *token;

	while (pvq_wake_goes_on(&t->wake, received)) {
		unsigned int n = send_burst(t, sent);

		sent += n;
		while ((token = pvq_split_next_used(drv, &len)) != NULL) {
			pvq_wake_check(&t->wake,
					token == split_rig_token(received) && len == 8 &&
							place(t, received)[1] == ~received);
			received++;
			n++;
		}
		pvq_wake_check(&t->wake, !drv->broken);
		if (n > 0)
			continue;
		if (t->wake.events && (received / 64 % 2 ? pvq_split_enable_cb(drv)
							 : pvq_split_enable_cb_delayed(drv)))
			pvq_wake_sleep(&t->wake, t->wake.call);
		else
			sched_yield();
		if (t->wake.events && received / 32 % 2)
			pvq_split_disable_cb(drv);
	}
	pvq_wake_up(t->wake.kick);
}

static void
pass(uint16_t size, unsigned int flags, uint64_t count, bool events)
{
	struct traffic t = {
		.wake = { .count = count,
				.events = events,
				.kick = eventfd(0, 0),
				.call = eventfd(0, 0) },
	};
	pthread_t thread;

	split_rig_init(&t.rig, size, 65000, flags);
	pvq_split_disable_kick(&t.rig.dev, NULL);
	pvq_split_disable_cb(&t.rig.drv);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, device, &t), 0);
	drive(&t);
	pthread_join(thread, NULL);
	CU_ASSERT_FALSE(t.wake.failed);
	CU_ASSERT_EQUAL(pvq_split_capacity(&t.rig.drv), size);
	/* The first of a ring is always told of. */
	if (!events && !(flags & SPLIT_EVENT_IDX))
		CU_ASSERT_TRUE(t.wake.nkicks == 0 && t.wake.ncalls == 0);
	close(t.wake.kick);
	close(t.wake.call);
	split_rig_fini(&t.rig);
}

static void
both_poll(void)
{
	for (unsigned int flags = 0; flags <= SPLIT_ALL_FLAGS; flags++) {
		pass(256, flags, 300000, false);
		pass(8, flags, 100000, false);
	}
}

/* Kicks and calls are wanted, and not, all the time: none is left out that someone waits for. */
static void
nt01_nt03_both_sleep(void)
{
	static const uint16_t sizes[] = { 256, 16, 2 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned int flags = 0; flags <= SPLIT_ALL_FLAGS; flags++)
			pass(sizes[i], flags, 60 * (sizes[i] + 100), true);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "both poll", both_poll },
		{ "NT01, NT03 both sleep, and no kick or call is lost", nt01_nt03_both_sleep },
		CU_TEST_INFO_NULL,
	};

	return pvq_run_tests("pvq split threads", tests);
}
