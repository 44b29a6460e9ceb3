/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The control thread: it waits for sockets and timers of all devices, and lets each do a bounded
 * amount of work at a time.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "pvu_priv.h"

#define EVENTS_A_TURN 16

/* An epoll event names its device by number, not by address: the device may be gone. */
#define KIND_BITS 2

int64_t
pvu_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
pvu_loop_lock(struct pvu_loop *loop)
{
	uint64_t ticket;

	pthread_mutex_lock(&loop->mutex);
	ticket = loop->next_ticket++;
	while (ticket != loop->serving)
		pthread_cond_wait(&loop->turn, &loop->mutex);
	pthread_mutex_unlock(&loop->mutex);
}

void
pvu_loop_unlock(struct pvu_loop *loop)
{
	pthread_mutex_lock(&loop->mutex);
	loop->serving++;
	pthread_cond_broadcast(&loop->turn);
	pthread_mutex_unlock(&loop->mutex);
}

int
pvu_loop_watch(struct pvu_dev *dev, int fd, enum pvu_event_kind kind, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.u64 = dev->id << KIND_BITS | kind };
	int epoll_fd = dev->loop->epoll_fd;

	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &ev) == 0)
		return 0;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0 ? 0 : -errno;
}

void
pvu_loop_unwatch(struct pvu_loop *loop, int fd)
{
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void
pvu_loop_wake(struct pvu_loop *loop)
{
	/* It fails only when the eventfd is full, which wakes as well. */
	(void)eventfd_write(loop->wake_fd, 1);
}

struct pvu_loop *
pvu_loop_create(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = PVU_EV_WAKE };
	struct pvu_loop *loop = calloc(1, sizeof(*loop));
	int err;

	if (loop == NULL)
		return NULL;
	TAILQ_INIT(&loop->devs);
	pthread_mutex_init(&loop->mutex, NULL);
	pthread_cond_init(&loop->turn, NULL);
	loop->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (loop->null_fd >= 0 && loop->epoll_fd >= 0 && loop->wake_fd >= 0 &&
			epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &ev) == 0)
		return loop;
	err = errno;
	pvu_loop_destroy(loop);
	errno = err;
	return NULL;
}

void
pvu_loop_destroy(struct pvu_loop *loop)
{
	if (loop == NULL)
		return;
	pvu_notify_fini(loop);
	pvu_close(&loop->null_fd);
	pvu_close(&loop->wake_fd);
	pvu_close(&loop->epoll_fd);
	pthread_cond_destroy(&loop->turn);
	pthread_mutex_destroy(&loop->mutex);
	free(loop);
}

static struct pvu_dev *
find_dev(struct pvu_loop *loop, uint64_t id)
{
	struct pvu_dev *dev;

	TAILQ_FOREACH (dev, &loop->devs, next)
		if (dev->id == id)
			break;
	return dev;
}

static void
serve_wake(struct pvu_loop *loop)
{
	struct pvu_dev *dev;
	eventfd_t count;

	(void)eventfd_read(loop->wake_fd, &count);
	TAILQ_FOREACH (dev, &loop->devs, next)
		pvu_dev_check_faults(dev);
}

static void
serve_event(struct pvu_loop *loop, const struct epoll_event *ev)
{
	enum pvu_event_kind kind = ev->data.u64 & ((1u << KIND_BITS) - 1);
	struct pvu_dev *dev;

	pvu_loop_lock(loop);
	dev = find_dev(loop, ev->data.u64 >> KIND_BITS);
	if (kind == PVU_EV_WAKE)
		serve_wake(loop);
	else if (dev != NULL && kind == PVU_EV_LISTEN)
		pvu_sock_accept(dev);
	else if (dev != NULL)
		pvu_conn_serve(dev, ev->events);
	pvu_loop_unlock(loop);
}

/* Run the timers that are due. @return how many ran, and in @p wait_ms the time to the next */
static int
serve_timers(struct pvu_loop *loop, int *wait_ms)
{
	struct pvu_dev *dev;
	int64_t now = pvu_now_ms();
	int served = 0;

	pvu_loop_lock(loop);
	TAILQ_FOREACH (dev, &loop->devs, next) {
		if (dev->retry_at < 0)
			continue;
		if (dev->retry_at <= now) {
			pvu_dev_timer(dev);
			served++;
		}
		if (dev->retry_at >= 0 && (*wait_ms < 0 || dev->retry_at - now < *wait_ms))
			*wait_ms = (int)(dev->retry_at - now);
	}
	pvu_loop_unlock(loop);
	return served;
}

int
pvu_loop_poll(struct pvu_loop *loop, int timeout_ms)
{
	struct epoll_event ev[EVENTS_A_TURN];
	int i, n, timers;

	timers = serve_timers(loop, &timeout_ms);
	n = epoll_wait(loop->epoll_fd, ev, EVENTS_A_TURN, timers ? 0 : timeout_ms);
	if (n < 0)
		return errno == EINTR ? timers : -errno;
	for (i = 0; i < n; i++)
		serve_event(loop, &ev[i]);
	return timers + n;
}

int
pvu_loop_run(struct pvu_loop *loop)
{
	int rc = 0;

	while (rc >= 0 && !atomic_load(&loop->stop))
		rc = pvu_loop_poll(loop, -1);
	atomic_store(&loop->stop, false);
	return rc < 0 ? rc : 0;
}

void
pvu_loop_stop(struct pvu_loop *loop)
{
	atomic_store(&loop->stop, true);
	pvu_loop_wake(loop);
}
