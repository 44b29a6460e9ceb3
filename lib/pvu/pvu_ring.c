/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* When a ring runs. A frontend tells size, addresses, base, kick and enable in any order, and may
 * tell each again while the ring runs. A handler therefore holds the ring (stops it if it runs),
 * changes what it was told, and settles it (starts it if nothing is missing).
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/virtio_config.h>

#include "pvu_priv.h"

#define PACKED (UINT64_C(1) << VIRTIO_F_RING_PACKED)
#define EVENT_IDX (UINT64_C(1) << VIRTIO_RING_F_EVENT_IDX)

#define WRAP 0x8000u

static bool
is_packed(const struct pvu_dev *dev)
{
	return dev->now.features & PACKED;
}

void
pvu_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool
is_eventfd(const char *path)
{
	static const char name[] = "anon_inode:[eventfd]";
	char target[sizeof(name)];

	return readlink(path, target, sizeof(target)) == sizeof(name) - 1 &&
	       memcmp(target, name, sizeof(name) - 1) == 0;
}

/* The protocol knows eventfds and pipes. Anything else could block its writer, or do something at
 * every write. O_NONBLOCK belongs to the open file, which the frontend shares and can change:
 * pvu_notify() knows how to signal an eventfd all the same; a pipe can be opened anew, and open
 * for reading, too, it never raises SIGPIPE.
 */
int
pvu_event_fd(struct pvu_dev *dev, int *fd)
{
	char path[32];
	struct statx st;
	int own;

	/* Do not ask a file system that could take its time to answer. */
	if (statx(*fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return pvu_fail(dev, -errno, "event descriptor: %s", strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	if (S_ISFIFO(st.stx_mode)) {
		own = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (own < 0)
			return pvu_fail(dev, -errno, "event pipe: %s", strerror(errno));
		pvu_close(fd);
		return own;
	}
	if (!is_eventfd(path))
		return pvu_fail(dev, -EINVAL, "event descriptor is neither eventfd nor pipe");
	if (pvu_notify_prepare(dev->loop) < 0 && fcntl(*fd, F_SETFL, O_NONBLOCK) < 0)
		return pvu_fail(dev, -errno, "event descriptor: %s", strerror(errno));
	own = *fd;
	*fd = -1;
	return own;
}

void
pvu_vring_init(struct pvu_vring *vr)
{
	*vr = (struct pvu_vring){ .enabled = -1, .kick_fd = -1, .call_fd = -1 };
}

bool
pvu_dev_serving(const struct pvu_dev *dev)
{
	uint8_t mask = PVU_S_DRIVER_OK | PVU_S_FAILED;

	if (!dev->features_acked || dev->mem == NULL)
		return false;
	/* A frontend without STATUS has its driver ready when it kicks. */
	return !(dev->now.protocol_features & PVU_PROTO_STATUS) ||
	       (dev->now.status & mask) == PVU_S_DRIVER_OK;
}

/* Find the three areas of a ring in this process. Split rings have two more bytes at the end of
 * the avail and used rings with EVENT_IDX (virtio 1.2, 2.7.6 and 2.7.8).
 */
static int
locate(struct pvu_dev *dev, const struct vhost_vring_addr *addr, uint32_t size,
		struct pvu_ring *ring)
{
	uint64_t event = dev->now.features & EVENT_IDX ? 2 : 0;
	uint64_t driver_len = sizeof(struct vring_packed_desc_event);
	uint64_t device_len = sizeof(struct vring_packed_desc_event);

	if (dev->features_acked && !is_packed(dev)) {
		driver_len = 4 + 2 * (uint64_t)size + event;
		device_len = 4 + 8 * (uint64_t)size + event;
	}
	ring->desc = pvu_mem_at(
			dev->mem, addr->desc_user_addr, size * sizeof(struct vring_packed_desc));
	ring->driver = pvu_mem_at(dev->mem, addr->avail_user_addr, driver_len);
	ring->device = pvu_mem_at(dev->mem, addr->used_user_addr, device_len);
	if (ring->desc == NULL || ring->driver == NULL || ring->device == NULL)
		return pvu_fail(dev, -EFAULT, "ring does not lie in the frontend's memory");
	return 0;
}

int
pvu_ring_check_addr(struct pvu_dev *dev, const struct pvu_vring *vr,
		const struct vhost_vring_addr *addr)
{
	uint64_t avail_align = is_packed(dev) ? 4 : 2;
	struct pvu_ring ring;

	if (addr->flags != 0)
		return pvu_fail(dev, -EINVAL, "flags %#x: logging is not offered", addr->flags);
	if (addr->desc_user_addr % 16 || addr->avail_user_addr % avail_align ||
			addr->used_user_addr % 4)
		return pvu_fail(dev, -EINVAL, "addresses are not aligned");
	return dev->mem == NULL ? 0 : locate(dev, addr, vr->size ? vr->size : 1, &ring);
}

int
pvu_ring_check_size(struct pvu_dev *dev, uint32_t size)
{
	if (size == 0 || size > 32768)
		return pvu_fail(dev, -EINVAL, "size %u is not within 1..32768", size);
	if (dev->features_acked && !is_packed(dev) && (size & (size - 1)) != 0)
		return pvu_fail(dev, -EINVAL, "size %u of a split ring is not a power of two",
				size);
	return 0;
}

int
pvu_ring_check_base(struct pvu_dev *dev, const struct pvu_vring *vr, uint32_t base)
{
	if (!dev->features_acked)
		return 0;
	/* The upper half of a packed base repeats the used position: it is the same here. */
	if (is_packed(dev) && vr->size != 0 && (base & 0x7fff) >= vr->size)
		return pvu_fail(dev, -EINVAL, "base %#x is not below size %u", base, vr->size);
	if (!is_packed(dev) && base > 0xffff)
		return pvu_fail(dev, -EINVAL, "base %#x is beyond 16 bits", base);
	return 0;
}

uint16_t
pvu_ring_base(const struct pvu_dev *dev, const struct pvu_vring *vr)
{
	if (vr->has_base)
		return (uint16_t)vr->base;
	return is_packed(dev) ? WRAP : 0;
}

/* What a message could not be judged by when it came, because others were to follow, is judged
 * now.
 */
static int
describe(struct pvu_dev *dev, const struct pvu_vring *vr, struct pvu_ring *ring)
{
	int rc = pvu_ring_check_size(dev, vr->size);

	if (rc == 0 && vr->has_base)
		rc = pvu_ring_check_base(dev, vr, vr->base);
	if (rc == 0)
		rc = pvu_ring_check_addr(dev, vr, &vr->addr);
	if (rc == 0)
		rc = locate(dev, &vr->addr, vr->size, ring);
	if (rc < 0)
		return rc;
	ring->size = (uint16_t)vr->size;
	ring->base = pvu_ring_base(dev, vr);
	ring->kick_fd = vr->kick_fd;
	ring->call_fd = vr->call_fd;
	return 0;
}

static bool
is_ready(const struct pvu_dev *dev, const struct pvu_vring *vr)
{
	bool enabled = vr->enabled < 0 ? !(dev->now.features & PVU_F_PROTOCOL_FEATURES)
				       : vr->enabled;

	return pvu_dev_serving(dev) && enabled && vr->kicked && vr->size != 0 && vr->has_addr &&
	       !vr->stuck;
}

void
pvu_ring_settle(struct pvu_dev *dev, unsigned int i)
{
	struct pvu_vring *vr = &dev->rings[i];
	struct pvu_ring ring;
	int rc;

	if (vr->running || !is_ready(dev, vr))
		return;
	rc = describe(dev, vr, &ring);
	if (rc == 0) {
		rc = dev->ops->ring_start(dev->owner, i, &ring);
		if (rc < 0)
			pvu_fail(dev, rc, "%s", strerror(-rc));
	}
	if (rc < 0) {
		pvu_complain(dev, "ring %u is not started: %s", i, dev->why);
		return;
	}
	vr->running = true;
	dev->now.rings_running++;
}

int
pvu_ring_hold(struct pvu_dev *dev, unsigned int i)
{
	struct pvu_vring *vr = &dev->rings[i];
	uint16_t base = pvu_ring_base(dev, vr);
	int rc;

	if (!vr->running)
		return 0;
	rc = dev->ops->ring_stop(dev->owner, i, &base);
	vr->running = false;
	dev->now.rings_running--;
	if (rc < 0) {
		vr->stuck = true;
		return pvu_fail(dev, -ETIMEDOUT, "ring %u is still in use by its data thread", i);
	}
	vr->base = base;
	vr->has_base = true;
	return 0;
}

void
pvu_ring_settle_all(struct pvu_dev *dev)
{
	unsigned int i;

	for (i = 0; i < dev->nrings; i++)
		pvu_ring_settle(dev, i);
}

int
pvu_ring_hold_all(struct pvu_dev *dev)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < dev->nrings; i++)
		if (pvu_ring_hold(dev, i) < 0)
			rc = -ETIMEDOUT;
	return rc;
}

void
pvu_ring_unkick(struct pvu_vring *vr)
{
	vr->kicked = false;
	pvu_close(&vr->kick_fd);
}

void
pvu_ring_close_fds(struct pvu_vring *vr)
{
	/* The data thread that kept the ring keeps these, too. */
	if (vr->stuck)
		return;
	pvu_close(&vr->kick_fd);
	pvu_close(&vr->call_fd);
}
