/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "notify.h"

struct notify {
	const struct params *params;
	const struct notify_ops *ops;
	void *ring;
	bool delayed;
	int kick_fd, call_fd;
	/* Each side has lines of its own. */
	struct {
		uint64_t count[NOTIFY_COUNTS];
		uint64_t wrong;
	} driver __attribute__((aligned(256))), device __attribute__((aligned(256)));
};

static void
signal_fd(int fd)
{
	const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		err(EXIT_FAILURE, "eventfd");
}

/* Sleep until the other side signals. */
static void
wait_fd(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t signals;
	int ret;

	do
		ret = poll(&poll_fd, 1, THREADS_STALL * 1000);
	while (ret < 0 && errno == EINTR);
	if (ret == 0)
		threads_stalled();
	if (read(fd, &signals, sizeof(signals)) != sizeof(signals))
		err(EXIT_FAILURE, "eventfd");
}

/* Add and take back, one each in turn, until neither can be done. */
static void
drive_all(struct notify *n, uint64_t *added, uint64_t *done)
{
	const struct notify_ops *ops = n->ops;
	bool more = true;
	uint64_t seq;

	while (more) {
		more = *added < n->params->count && ops->add(n->ring, *added);
		if (more) {
			++*added;
			if (ops->must_kick(n->ring)) {
				n->driver.count[NOTIFY_KICKS]++;
				signal_fd(n->kick_fd);
			}
		}
		if (ops->used(n->ring, &seq)) {
			n->driver.wrong += seq != (*done)++;
			more = true;
		}
	}
}

static void
drive(void *arg)
{
	struct notify *n = arg;
	const struct notify_ops *ops = n->ops;
	uint64_t added = 0, done = 0;
	bool woken = false;

	for (;;) {
		uint64_t done_before = done;

		ops->disable_cb(n->ring);
		drive_all(n, &added, &done);
		n->driver.count[NOTIFY_SPURIOUS_CALLS] += woken && done == done_before;
		woken = false;
		if (done >= n->params->count)
			return;
		if (!(n->delayed ? ops->enable_cb_delayed(n->ring) : ops->enable_cb(n->ring)))
			continue;
		wait_fd(n->call_fd);
		woken = true;
	}
}

/* Give back one at a time, as the published device did, and ask after each. */
static void
serve(void *arg)
{
	struct notify *n = arg;
	const struct notify_ops *ops = n->ops;
	uint64_t done = 0;
	bool woken = false;

	while (done < n->params->count) {
		uint64_t done_before = done;

		ops->disable_kick(n->ring);
		while (ops->serve(n->ring, done, 1, &n->device.wrong) > 0) {
			done++;
			if (ops->must_call(n->ring)) {
				n->device.count[NOTIFY_CALLS]++;
				signal_fd(n->call_fd);
			}
		}
		n->device.count[NOTIFY_SPURIOUS_KICKS] += woken && done == done_before;
		woken = false;
		if (done < n->params->count && ops->enable_kick(n->ring)) {
			wait_fd(n->kick_fd);
			woken = true;
		}
	}
}

static int
new_fd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		err(EXIT_FAILURE, "eventfd");
	return fd;
}

void
notify_run(const struct params *params, const struct notify_ops *ops, void *ring, bool delayed,
		struct sample *sample)
{
	struct notify n = {
		.params = params,
		.ops = ops,
		.ring = ring,
		.delayed = delayed,
		.kick_fd = new_fd(),
		.call_fd = new_fd(),
	};

	threads_pair(params, drive, serve, &n, sample);
	close(n.kick_fd);
	close(n.call_fd);
	for (unsigned int i = 0; i < NOTIFY_COUNTS; i++)
		sample->extra[i] = (double)(n.driver.count[i] + n.device.count[i]);
	sample->wrong = n.driver.wrong + n.device.wrong;
}
