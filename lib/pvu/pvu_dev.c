/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A device: made, connected, disconnected, destroyed. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <bsd/string.h>

#include "pvu_priv.h"

int
pvu_dev_up(struct pvu_dev *dev, int fd)
{
	int rc = pvu_loop_watch(dev, fd, PVU_EV_CONN, EPOLLIN);

	if (rc < 0) {
		pvu_log(dev, PVU_LOG_ERR, "cannot serve a frontend: %s", strerror(-rc));
		return rc;
	}
	dev->conn.fd = fd;
	dev->conn.events = EPOLLIN;
	dev->complaints = 0;
	dev->now.connected = true;
	dev->now.connections++;
	pvu_log(dev, PVU_LOG_INFO, "frontend connected");
	pvu_dev_publish(dev);
	return 0;
}

int
pvu_dev_reset(struct pvu_dev *dev)
{
	unsigned int i;

	if (pvu_ring_hold_all(dev) < 0)
		return -ETIMEDOUT;
	for (i = 0; i < dev->nrings; i++) {
		struct pvu_vring *vr = &dev->rings[i];
		int call_fd = vr->call_fd;

		pvu_ring_unkick(vr);
		pvu_vring_init(vr);
		vr->call_fd = call_fd; /* a frontend may have sent it once and for all */
	}
	dev->now.status = 0;
	dev->features_acked = false;
	if (dev->now.features != 0) {
		dev->now.features = 0;
		dev->ops->set_features(dev->owner, 0);
	}
	return 0;
}

static void
drop_memory(struct pvu_dev *dev, bool in_use)
{
	struct pvu_memory *mem = dev->mem;

	if (mem == NULL)
		return;
	dev->mem = NULL;
	dev->now.nregions = 0;
	dev->ops->set_memory(dev->owner, NULL, 0);
	if (in_use)
		pvu_mem_abandon(mem);
	else
		pvu_mem_free(mem);
}

/* End the connection, and forget all that its frontend said: the next one starts afresh. */
void
pvu_dev_down(struct pvu_dev *dev, const char *reason)
{
	bool stuck = false;
	unsigned int i;

	strlcpy(dev->now.down_reason, reason, sizeof(dev->now.down_reason));
	pvu_log(dev, PVU_LOG_INFO, "frontend disconnected: %s", dev->now.down_reason);
	pvu_ring_hold_all(dev);
	for (i = 0; i < dev->nrings; i++) {
		stuck |= dev->rings[i].stuck;
		pvu_ring_close_fds(&dev->rings[i]);
		pvu_vring_init(&dev->rings[i]);
	}
	if (stuck)
		pvu_log(dev, PVU_LOG_ERR,
				"a data thread is stuck: memory of the last frontend stays mapped");
	drop_memory(dev, stuck);
	pvu_dev_reset(dev);
	dev->now.mtu = 0;
	dev->now.protocol_features = 0;
	dev->now.connected = false;
	pvu_conn_close(dev);
	if (dev->client)
		dev->retry_at = pvu_now_ms() + PVU_RETRY_MS;
}

void
pvu_dev_timer(struct pvu_dev *dev)
{
	dev->retry_at = -1;
	if (dev->client)
		pvu_sock_connect(dev);
	else
		pvu_loop_watch(dev, dev->listen_fd, PVU_EV_LISTEN, EPOLLIN);
}

void
pvu_dev_check_faults(struct pvu_dev *dev)
{
	char reason[64];
	unsigned int i;

	for (i = 0; dev->mem != NULL && i < dev->mem->count; i++)
		if (pvu_guard_hit(dev->mem->maps[i].guard)) {
			snprintf(reason, sizeof(reason),
					"memory region %u was cut short by the frontend", i);
			pvu_dev_down(dev, reason);
			pvu_dev_publish(dev);
		}
}

/* @return 0, or a negative errno and the reason in @p why */
static int
check_params(const struct pvu_params *p, char *why, size_t size)
{
	int rc = -EINVAL;

	if (p->path == NULL || p->path[0] == '\0') {
		strlcpy(why, "no path", size);
	} else if (strlen(p->path) >= PVU_PATH_LEN) {
		snprintf(why, size, "path is longer than %u bytes", PVU_PATH_LEN - 1);
		rc = -ENAMETOOLONG;
	} else if (p->nrings == 0 || p->nrings > PVU_MAX_RINGS) {
		snprintf(why, size, "%u rings, not 1 to %u", p->nrings, PVU_MAX_RINGS);
	} else if (p->config_len > PVU_MAX_CONFIG) {
		snprintf(why, size, "configuration space of %zu bytes, at most %u", p->config_len,
				PVU_MAX_CONFIG);
	} else {
		rc = 0;
	}
	return rc;
}

static struct pvu_dev *
new_dev(struct pvu_loop *loop, const struct pvu_params *p)
{
	struct pvu_dev *dev = calloc(1, sizeof(*dev));
	unsigned int i;

	if (dev == NULL)
		return NULL;
	dev->rings = calloc(p->nrings, sizeof(*dev->rings));
	if (dev->rings == NULL) {
		free(dev);
		return NULL;
	}
	for (i = 0; i < p->nrings; i++)
		pvu_vring_init(&dev->rings[i]);
	strlcpy(dev->path, p->path, sizeof(dev->path));
	dev->loop = loop;
	dev->client = p->client;
	dev->nrings = p->nrings;
	dev->features = p->features | PVU_F_PROTOCOL_FEATURES;
	if (p->config_len != 0)
		memcpy(dev->config, p->config, p->config_len);
	dev->ops = p->ops;
	dev->owner = p->owner;
	dev->listen_fd = -1;
	dev->conn.fd = -1;
	dev->retry_at = -1;
	pthread_mutex_init(&dev->info_lock, NULL);
	return dev;
}

static void
free_dev(struct pvu_dev *dev)
{
	pthread_mutex_destroy(&dev->info_lock);
	free(dev->rings);
	free(dev);
}

static void
log_refusal(const struct pvu_params *p, const char *why)
{
	char line[256];

	snprintf(line, sizeof(line), "cannot serve \"%.120s\": %s", p->path ? p->path : "", why);
	p->ops->log(p->owner, PVU_LOG_ERR, line);
}

static int
create(struct pvu_loop *loop, const struct pvu_params *params, int fd, struct pvu_dev **out)
{
	struct pvu_dev *dev;
	char why[96];
	int rc;

	*out = NULL;
	rc = check_params(params, why, sizeof(why));
	if (rc < 0) {
		log_refusal(params, why);
		return rc;
	}
	dev = new_dev(loop, params);
	if (dev == NULL) {
		log_refusal(params, strerror(ENOMEM));
		return -ENOMEM;
	}

	pvu_loop_lock(loop);
	dev->id = ++loop->last_id;
	if (fd >= 0) {
		dev->client = false;
		rc = pvu_dev_up(dev, fd);
	} else if (dev->client) {
		dev->retry_at = pvu_now_ms();
	} else {
		rc = pvu_sock_listen(dev);
	}
	if (rc == 0) {
		TAILQ_INSERT_TAIL(&loop->devs, dev, next);
		*out = dev;
		pvu_loop_wake(loop);
	} else {
		pvu_sock_unlisten(dev);
	}
	pvu_loop_unlock(loop);
	if (rc < 0)
		free_dev(dev);
	return rc;
}

int
pvu_dev_create(struct pvu_loop *loop, const struct pvu_params *params, struct pvu_dev **dev)
{
	return create(loop, params, -1, dev);
}

int
pvu_dev_create_fd(struct pvu_loop *loop, const struct pvu_params *params, int fd,
		struct pvu_dev **dev)
{
	int rc = fd < 0 ? -EBADF : create(loop, params, fd, dev);

	/* The device owns it, even one that came to nothing. */
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc;
}

void
pvu_dev_destroy(struct pvu_dev *dev)
{
	struct pvu_loop *loop = dev->loop;

	pvu_loop_lock(loop);
	TAILQ_REMOVE(&loop->devs, dev, next);
	if (dev->conn.fd >= 0)
		pvu_dev_down(dev, "device closed");
	pvu_sock_unlisten(dev);
	pvu_dev_publish(dev);
	pvu_loop_unlock(loop);
	free_dev(dev);
}
