/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Where frontends come from: a listening socket and its file, or a server to connect to. */

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

#include "pvu_priv.h"

#define BACKLOG 8
#define ACCEPTS_A_TURN 8

static struct sockaddr_un
address(const struct pvu_dev *dev)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strlcpy(addr.sun_path, dev->path, sizeof(addr.sun_path));
	return addr;
}

static int
new_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Make room for our socket file, if what is there is a socket nobody listens on. */
static int
clear_path(struct pvu_dev *dev)
{
	struct sockaddr_un addr = address(dev);
	struct stat st;
	int fd, rc, err;

	if (lstat(dev->path, &st) < 0)
		return errno == ENOENT ? 0 : pvu_fail(dev, -errno, "%s", strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return pvu_fail(dev, -EEXIST, "exists and is not a socket");
	fd = new_socket();
	if (fd < 0)
		return pvu_fail(dev, -errno, "%s", strerror(errno));
	rc = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	err = errno;
	close(fd);
	if (rc == 0 || err == EAGAIN)
		return pvu_fail(dev, -EADDRINUSE, "another process serves this socket");
	if (err != ECONNREFUSED)
		return pvu_fail(dev, -err, "%s", strerror(err));
	if (unlink(dev->path) < 0 && errno != ENOENT)
		return pvu_fail(dev, -errno, "stale socket cannot be removed: %s", strerror(errno));
	return 0;
}

static int
bind_and_listen(struct pvu_dev *dev)
{
	struct sockaddr_un addr = address(dev);
	struct stat st;
	int rc;

	if (bind(dev->listen_fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return pvu_fail(dev, -errno, "%s", strerror(errno));
	/* Remember which file is ours: by the time we remove it, the path may be another's. */
	if (lstat(dev->path, &st) == 0) {
		dev->sock_dev = st.st_dev;
		dev->sock_ino = st.st_ino;
	}
	if (listen(dev->listen_fd, BACKLOG) < 0)
		return pvu_fail(dev, -errno, "%s", strerror(errno));
	rc = pvu_loop_watch(dev, dev->listen_fd, PVU_EV_LISTEN, EPOLLIN);
	return rc < 0 ? pvu_fail(dev, rc, "%s", strerror(-rc)) : 0;
}

int
pvu_sock_listen(struct pvu_dev *dev)
{
	int rc = clear_path(dev);

	if (rc == 0) {
		dev->listen_fd = new_socket();
		rc = dev->listen_fd < 0 ? pvu_fail(dev, -errno, "%s", strerror(errno))
					: bind_and_listen(dev);
	}
	if (rc < 0)
		pvu_log(dev, PVU_LOG_ERR, "cannot listen on %s: %s", dev->path, dev->why);
	return rc;
}

void
pvu_sock_unlisten(struct pvu_dev *dev)
{
	struct stat st;

	if (dev->listen_fd < 0)
		return;
	if (dev->sock_ino != 0 && lstat(dev->path, &st) == 0 && st.st_dev == dev->sock_dev &&
			st.st_ino == dev->sock_ino)
		unlink(dev->path);
	pvu_loop_unwatch(dev->loop, dev->listen_fd);
	pvu_close(&dev->listen_fd);
}

/* Out of descriptors: the connection waits in the backlog, and epoll must not report it again and
 * again in the meantime.
 */
static void
pause_listening(struct pvu_dev *dev, int err)
{
	pvu_log(dev, PVU_LOG_ERR, "cannot accept on %s, trying again in %u ms: %s", dev->path,
			PVU_RETRY_MS, strerror(err));
	pvu_loop_watch(dev, dev->listen_fd, PVU_EV_LISTEN, 0);
	dev->retry_at = pvu_now_ms() + PVU_RETRY_MS;
}

void
pvu_sock_accept(struct pvu_dev *dev)
{
	unsigned int i;
	int fd;

	for (i = 0; i < ACCEPTS_A_TURN; i++) {
		fd = accept4(dev->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				pause_listening(dev, errno);
			return;
		}
		if (dev->conn.fd >= 0 && pvu_conn_is_over(dev)) {
			pvu_dev_down(dev, "frontend closed the connection");
			pvu_dev_publish(dev);
		}
		if (dev->conn.fd >= 0)
			pvu_complain(dev, "second frontend refused");
		else if (pvu_dev_up(dev, fd) == 0)
			continue;
		close(fd);
	}
}

void
pvu_sock_connect(struct pvu_dev *dev)
{
	struct sockaddr_un addr = address(dev);
	int fd = new_socket();
	int err;

	/* On a unix socket this never blocks: it is connected, or it is not. */
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
			pvu_dev_up(dev, fd) == 0) {
		dev->told_waiting = false;
		return;
	}
	err = errno;
	if (fd >= 0)
		close(fd);
	if (!dev->told_waiting)
		pvu_log(dev, PVU_LOG_INFO, "waiting for a server on %s: %s", dev->path,
				strerror(err));
	dev->told_waiting = true;
	dev->retry_at = pvu_now_ms() + PVU_RETRY_MS;
}
