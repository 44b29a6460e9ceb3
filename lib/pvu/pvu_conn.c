/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* One connected frontend: messages with descriptors in, replies out. Neither waits: a message
 * that is not there yet stays in the buffer, a reply that does not go out stays in the queue.
 */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pvu_priv.h"

/* Linux sends at most 253 descriptors at once (SCM_MAX_FD). With room for all of them, those
 * that no message may have are seen, and closed.
 */
#define SCM_FDS 253

/* Keep what a message may have of the descriptors that came. @return false if there were more */
static bool
keep_fds(struct pvu_conn *conn, struct msghdr *mh)
{
	struct cmsghdr *cmsg;
	bool fit = true;
	size_t i, n;
	int fd;

	for (cmsg = CMSG_FIRSTHDR(mh); cmsg != NULL; cmsg = CMSG_NXTHDR(mh, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(fd), sizeof(fd));
			if (conn->nfds < PVU_MAX_FDS) {
				conn->fds[conn->nfds++] = fd;
			} else {
				close(fd);
				fit = false;
			}
		}
	}
	return fit;
}

/* Receive up to @p want bytes more. @return how many came, 0: none yet, negative: the end */
static ssize_t
receive(struct pvu_dev *dev, size_t want)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(SCM_FDS * sizeof(int))];
	} control;
	struct pvu_conn *conn = &dev->conn;
	struct iovec iov = { .iov_base = conn->rx + conn->rx_len, .iov_len = want };
	struct msghdr mh = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	ssize_t n;

	do {
		n = recvmsg(conn->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n < 0)
		return pvu_fail(dev, -errno, "connection lost: %s", strerror(errno));
	if (n == 0 && conn->rx_len != 0)
		return pvu_fail(dev, -EPROTO, "frontend closed the connection within a message");
	if (n == 0)
		return pvu_fail(dev, -ENOTCONN, "frontend closed the connection");
	if (!keep_fds(conn, &mh))
		return pvu_fail(dev, -EPROTO, "more than %u descriptors with one message",
				PVU_MAX_FDS);
	if (mh.msg_flags & MSG_CTRUNC)
		return pvu_fail(dev, -EPROTO, "descriptors of a message were lost");
	conn->rx_len += (size_t)n;
	return n;
}

/* Hand the complete message in the buffer over, descriptors and all. */
static void
deliver(struct pvu_dev *dev, const struct pvu_hdr *hdr)
{
	struct pvu_conn *conn = &dev->conn;
	struct pvu_msg msg = { .hdr = *hdr, .nfds = conn->nfds };

	memcpy(msg.payload, conn->rx + sizeof(*hdr), hdr->size);
	memcpy(msg.fds, conn->fds, sizeof(msg.fds));
	conn->rx_len = 0;
	conn->nfds = 0;
	pvu_proto_handle(dev, &msg);
}

/* Receive a part of a message, and handle it if that completes it.
 * @return 1: go on, 0: nothing more for now, negative: take the connection down
 */
static int
step(struct pvu_dev *dev)
{
	struct pvu_conn *conn = &dev->conn;
	struct pvu_hdr hdr;
	ssize_t n;

	/* Header and payload are received apart: descriptors of the next message stay with it. */
	if (conn->rx_len < sizeof(hdr)) {
		n = receive(dev, sizeof(hdr) - conn->rx_len);
		if (n <= 0)
			return (int)n;
		if (conn->rx_len < sizeof(hdr))
			return 1;
		memcpy(&hdr, conn->rx, sizeof(hdr));
		if (!pvu_proto_admits(dev, &hdr))
			return -EPROTO;
	} else {
		memcpy(&hdr, conn->rx, sizeof(hdr));
		n = receive(dev, sizeof(hdr) + hdr.size - conn->rx_len);
		if (n <= 0)
			return (int)n;
	}
	if (conn->rx_len == sizeof(hdr) + hdr.size)
		deliver(dev, &hdr);
	return 1;
}

static int
flush(struct pvu_dev *dev)
{
	struct pvu_conn *conn = &dev->conn;
	uint32_t events;
	ssize_t n;

	n = send(conn->fd, conn->tx, conn->tx_len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return pvu_fail(dev, -errno, "connection lost: %s", strerror(errno));
	if (n > 0) {
		conn->tx_len -= (size_t)n;
		memmove(conn->tx, conn->tx + n, conn->tx_len);
	}
	events = conn->tx_len != 0 ? EPOLLIN | EPOLLOUT : EPOLLIN;
	if (events != conn->events)
		pvu_loop_watch(dev, conn->fd, PVU_EV_CONN, events);
	conn->events = events;
	return 0;
}

void
pvu_conn_serve(struct pvu_dev *dev, uint32_t events)
{
	unsigned int steps;
	int rc = 0;

	if (events & EPOLLOUT && dev->conn.fd >= 0)
		rc = flush(dev);
	/* A message is received in two steps, or more if it comes in pieces. */
	for (steps = 0; rc >= 0 && dev->conn.fd >= 0 && steps < 2 * PVU_BURST; steps++) {
		rc = step(dev);
		if (rc == 0)
			break;
	}
	if (rc < 0 && dev->conn.fd >= 0) {
		pvu_dev_down(dev, dev->why);
		pvu_dev_publish(dev);
	}
}

int
pvu_conn_reply(struct pvu_dev *dev, uint32_t request, const void *payload, uint32_t size)
{
	struct pvu_hdr hdr = { .request = request, .flags = PVU_VERSION | PVU_REPLY, .size = size };
	struct pvu_conn *conn = &dev->conn;

	if (sizeof(hdr) + size > sizeof(conn->tx) - conn->tx_len)
		return pvu_fail(dev, -ENOBUFS, "frontend does not read its replies");
	memcpy(conn->tx + conn->tx_len, &hdr, sizeof(hdr));
	memcpy(conn->tx + conn->tx_len + sizeof(hdr), payload, size);
	conn->tx_len += sizeof(hdr) + size;
	return flush(dev);
}

bool
pvu_conn_is_over(struct pvu_dev *dev)
{
	struct pollfd pfd = { .fd = dev->conn.fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLRDHUP | POLLHUP);
}

void
pvu_conn_close(struct pvu_dev *dev)
{
	struct pvu_conn *conn = &dev->conn;

	while (conn->nfds > 0)
		pvu_close(&conn->fds[--conn->nfds]);
	conn->rx_len = 0;
	conn->tx_len = 0;
	conn->events = 0;
	pvu_loop_unwatch(dev->loop, conn->fd);
	pvu_close(&conn->fd);
}
