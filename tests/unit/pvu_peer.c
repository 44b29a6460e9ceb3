/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

#include "pvu_peer.h"

#define MAX_FDS 253

int
peer_connect(struct peer *peer, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strlcpy(addr.sun_path, path, sizeof(addr.sun_path));
	peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (peer->fd < 0)
		return -errno;
	if (connect(peer->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		int err = errno;

		peer_close(peer);
		return -err;
	}
	peer_pump(peer);
	return 0;
}

int
peer_pair(struct peer *peer)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	peer->fd = fds[0];
	return fds[1];
}

void
peer_close(struct peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
	peer_pump(peer);
}

void
peer_pump(struct peer *peer)
{
	if (peer->pump != NULL)
		peer->pump(peer->arg);
}

bool
peer_is_closed(struct peer *peer)
{
	struct pollfd pfd = { .fd = peer->fd, .events = POLLIN };
	char byte;

	peer_pump(peer);
	if (poll(&pfd, 1, peer->pump != NULL ? 0 : PEER_TIMEOUT_MS) <= 0)
		return false;
	return recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

int
peer_send_bytes(struct peer *peer, const void *bytes, size_t len, const int *fds, unsigned int nfds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(MAX_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	ssize_t n;

	if (nfds != 0) {
		memset(&control, 0, sizeof(control));
		mh.msg_control = control.buf;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&mh);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));
	}
	n = sendmsg(peer->fd, &mh, MSG_NOSIGNAL);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int
peer_send(struct peer *peer, uint32_t request, uint32_t flags, const void *payload, uint32_t size,
		const int *fds, unsigned int nfds)
{
	struct pvu_hdr hdr = { .request = request, .flags = PVU_VERSION | flags, .size = size };
	uint8_t bytes[sizeof(hdr) + 1024];

	if (size > sizeof(bytes) - sizeof(hdr))
		return -EMSGSIZE;
	memcpy(bytes, &hdr, sizeof(hdr));
	if (size != 0)
		memcpy(bytes + sizeof(hdr), payload, size);
	return peer_send_bytes(peer, bytes, sizeof(hdr) + size, fds, nfds);
}

/* @return 1, PEER_CLOSED or PEER_SILENT */
static int
receive_exactly(struct peer *peer, void *to, size_t len)
{
	struct pollfd pfd = { .fd = peer->fd, .events = POLLIN };
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		peer_pump(peer);
		/* A backend in this thread has said by now whatever it will say. */
		if (poll(&pfd, 1, peer->pump != NULL ? 0 : PEER_TIMEOUT_MS) <= 0)
			return PEER_SILENT;
		n = recv(peer->fd, (uint8_t *)to + got, len - got, 0);
		if (n <= 0)
			return PEER_CLOSED;
		got += (size_t)n;
	}
	return 1;
}

int
peer_receive(struct peer *peer, struct peer_answer *answer)
{
	int rc = receive_exactly(peer, &answer->hdr, sizeof(answer->hdr));

	if (rc != 1 || answer->hdr.size == 0)
		return rc;
	if (answer->hdr.size > sizeof(answer->payload))
		return PEER_WRONG;
	return receive_exactly(peer, answer->payload, answer->hdr.size);
}

int
peer_reply(struct peer *peer, uint32_t request, void *payload, uint32_t size)
{
	struct peer_answer answer;
	int rc = peer_receive(peer, &answer);

	if (rc != 1)
		return rc;
	if (answer.hdr.request != request || answer.hdr.size != size ||
			answer.hdr.flags != (PVU_VERSION | PVU_REPLY))
		return PEER_WRONG;
	memcpy(payload, answer.payload, size);
	return 0;
}

int
peer_ask(struct peer *peer, uint32_t request, const void *payload, uint32_t size, const int *fds,
		unsigned int nfds)
{
	uint64_t ack;
	int rc;

	if (peer_send(peer, request, PVU_NEED_REPLY, payload, size, fds, nfds) < 0)
		return PEER_CLOSED;
	rc = peer_reply(peer, request, &ack, sizeof(ack));
	return rc == 0 ? (int)ack : rc;
}

int
peer_ask_u64(struct peer *peer, uint32_t request, uint64_t value)
{
	return peer_ask(peer, request, &value, sizeof(value), NULL, 0);
}

int
peer_ask_state(struct peer *peer, uint32_t request, uint32_t index, uint32_t num)
{
	struct vhost_vring_state state = { .index = index, .num = num };

	return peer_ask(peer, request, &state, sizeof(state), NULL, 0);
}

int
peer_ask_fd(struct peer *peer, uint32_t request, uint32_t index, int fd)
{
	uint64_t word = index | (fd < 0 ? PVU_FD_NONE : 0);

	return peer_ask(peer, request, &word, sizeof(word), &fd, fd < 0 ? 0 : 1);
}

int
peer_get_u64(struct peer *peer, uint32_t request, uint64_t *value)
{
	if (peer_send(peer, request, 0, NULL, 0, NULL, 0) < 0)
		return PEER_CLOSED;
	return peer_reply(peer, request, value, sizeof(*value));
}

int
peer_get_base(struct peer *peer, uint32_t index, uint32_t *num)
{
	struct vhost_vring_state state = { .index = index };
	int rc;

	if (peer_send(peer, PVU_GET_VRING_BASE, 0, &state, sizeof(state), NULL, 0) < 0)
		return PEER_CLOSED;
	rc = peer_reply(peer, PVU_GET_VRING_BASE, &state, sizeof(state));
	*num = state.num;
	return rc == 0 && state.index != index ? PEER_WRONG : rc;
}

int
peer_negotiate(struct peer *peer, uint64_t features, uint64_t proto)
{
	proto |= PVU_PROTO_REPLY_ACK;
	if (peer_send(peer, PVU_SET_PROTOCOL_FEATURES, 0, &proto, sizeof(proto), NULL, 0) < 0)
		return PEER_CLOSED;
	return peer_ask_u64(peer, PVU_SET_FEATURES, features | PVU_F_PROTOCOL_FEATURES);
}

unsigned int
peer_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 3; /* ".", ".." and the directory itself */
}
