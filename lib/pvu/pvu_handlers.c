/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The requests about the whole device. Size, descriptor count and protocol feature of a message
 * have been checked; a handler checks the values, then does all of it or nothing.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>

#include "pvu_priv.h"

/* Feature bits that say how a ring looks: indirect, event index, and the reserved range of the
 * transport (virtio 1.2, section 6). They cannot change under a running ring.
 */
#define LAYOUT_BITS                                                                                \
	(UINT64_C(1) << VIRTIO_RING_F_INDIRECT_DESC | UINT64_C(1) << VIRTIO_RING_F_EVENT_IDX |     \
			UINT64_C(0x1ff) << VIRTIO_F_VERSION_1)

/* Virtio 1.2, 5.1.4.1 */
#define MIN_MTU 68
#define MAX_MTU 65535

static uint64_t
get_u64(const struct pvu_msg *msg)
{
	uint64_t value;

	memcpy(&value, msg->payload, sizeof(value));
	return value;
}

static int
reply_u64(struct pvu_msg *msg, uint64_t value)
{
	memcpy(msg->reply, &value, sizeof(value));
	msg->reply_size = sizeof(value);
	return 0;
}

int
pvu_get_features(struct pvu_dev *dev, struct pvu_msg *msg)
{
	return reply_u64(msg, dev->features);
}

int
pvu_set_features(struct pvu_dev *dev, struct pvu_msg *msg)
{
	uint64_t features = get_u64(msg);

	if (features & ~dev->features)
		return pvu_fail(dev, -EINVAL, "bits %#" PRIx64 " were not offered",
				features & ~dev->features);
	if (dev->features_acked && features == dev->now.features)
		return 0;
	if (dev->now.rings_running && (features ^ dev->now.features) & LAYOUT_BITS)
		return pvu_fail(dev, -EBUSY, "ring layout cannot change while %u rings run",
				dev->now.rings_running);
	if (pvu_ring_hold_all(dev) < 0)
		return -ETIMEDOUT;
	dev->now.features = features;
	dev->features_acked = true;
	dev->ops->set_features(dev->owner, features);
	pvu_ring_settle_all(dev);
	return 0;
}

int
pvu_get_protocol_features(struct pvu_dev *dev, struct pvu_msg *msg)
{
	(void)dev;
	return reply_u64(msg, PVU_PROTO_OFFERED);
}

int
pvu_set_protocol_features(struct pvu_dev *dev, struct pvu_msg *msg)
{
	uint64_t features = get_u64(msg);

	if (features & ~PVU_PROTO_OFFERED)
		return pvu_fail(dev, -EINVAL, "bits %#" PRIx64 " were not offered",
				features & ~PVU_PROTO_OFFERED);
	dev->now.protocol_features = features;
	if (!pvu_dev_serving(dev))
		return pvu_ring_hold_all(dev);
	pvu_ring_settle_all(dev);
	return 0;
}

/* Nothing has to be remembered: the socket has one frontend at a time. */
int
pvu_set_owner(struct pvu_dev *dev, struct pvu_msg *msg)
{
	(void)dev;
	(void)msg;
	return 0;
}

int
pvu_reset_owner(struct pvu_dev *dev, struct pvu_msg *msg)
{
	int rc = pvu_ring_hold_all(dev);
	unsigned int i;

	(void)msg;
	for (i = 0; rc == 0 && i < dev->nrings; i++) {
		pvu_ring_unkick(&dev->rings[i]);
		dev->rings[i].enabled = -1;
	}
	return rc;
}

int
pvu_reset_device(struct pvu_dev *dev, struct pvu_msg *msg)
{
	(void)msg;
	return pvu_dev_reset(dev);
}

int
pvu_set_mem_table(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct pvu_mem_region wire[PVU_MAX_REGIONS];
	struct pvu_memory *new, *old = dev->mem;
	struct pvu_mem_hdr hdr;
	int rc;

	memcpy(&hdr, msg->payload, sizeof(hdr));
	if (hdr.count > PVU_MAX_REGIONS ||
			msg->hdr.size != sizeof(hdr) + hdr.count * sizeof(wire[0]) ||
			msg->nfds != hdr.count)
		return pvu_fail(dev, -EPROTO, "%u regions in %u bytes with %u descriptors",
				hdr.count, msg->hdr.size, msg->nfds);
	if (hdr.count == 0)
		return pvu_fail(dev, -EINVAL, "no regions");
	memcpy(wire, msg->payload + sizeof(hdr), hdr.count * sizeof(wire[0]));

	rc = pvu_mem_map(dev, wire, msg->fds, hdr.count, &new);
	if (rc < 0)
		return rc;
	if (pvu_ring_hold_all(dev) < 0) {
		pvu_mem_free(new);
		return -ETIMEDOUT;
	}
	dev->mem = new;
	dev->now.nregions = (uint16_t) new->count;
	dev->ops->set_memory(dev->owner, new->regions, new->count);
	pvu_ring_settle_all(dev);
	pvu_mem_free(old);
	return 0;
}

/* For a network device the number of queues is that of its pairs. */
int
pvu_get_queue_num(struct pvu_dev *dev, struct pvu_msg *msg)
{
	return reply_u64(msg, dev->nrings > 1 ? dev->nrings / 2 : 1);
}

int
pvu_net_set_mtu(struct pvu_dev *dev, struct pvu_msg *msg)
{
	uint64_t mtu = get_u64(msg);

	if (mtu < MIN_MTU || mtu > MAX_MTU)
		return pvu_fail(dev, -EINVAL, "MTU %" PRIu64 " is not within %u..%u", mtu, MIN_MTU,
				MAX_MTU);
	dev->now.mtu = (uint16_t)mtu;
	return 0;
}

/* Fields beyond those this device has read as zero; an empty reply is the protocol's error. */
int
pvu_get_config(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct pvu_config_hdr hdr;

	memcpy(&hdr, msg->payload, sizeof(hdr));
	if (hdr.size > PVU_MAX_CONFIG || hdr.offset > PVU_MAX_CONFIG - hdr.size ||
			msg->hdr.size != sizeof(hdr) + hdr.size) {
		pvu_complain(dev, "GET_CONFIG: %u bytes at %u in a payload of %u", hdr.size,
				hdr.offset, msg->hdr.size);
		return 0;
	}
	memcpy(msg->reply, &hdr, sizeof(hdr));
	memcpy(msg->reply + sizeof(hdr), dev->config + hdr.offset, hdr.size);
	msg->reply_size = msg->hdr.size;
	return 0;
}

int
pvu_set_config(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct pvu_config_hdr hdr;

	memcpy(&hdr, msg->payload, sizeof(hdr));
	return pvu_fail(dev, -EPERM, "%u bytes at %u are read-only", hdr.size, hdr.offset);
}

int
pvu_get_status(struct pvu_dev *dev, struct pvu_msg *msg)
{
	return reply_u64(msg, dev->now.status);
}

/* The status may lose bits without a reset in between: virtio-user renegotiates that way. */
int
pvu_set_status(struct pvu_dev *dev, struct pvu_msg *msg)
{
	uint64_t status = get_u64(msg);

	if (status > UINT8_MAX)
		return pvu_fail(dev, -EINVAL, "status %#" PRIx64 " is beyond 8 bits", status);
	if (status == 0)
		return pvu_dev_reset(dev);
	/* The driver reads FEATURES_OK back to learn whether its choice was taken. */
	if (!dev->features_acked)
		status &= ~(uint64_t)PVU_S_FEATURES_OK;
	dev->now.status = (uint8_t)status;
	if (!pvu_dev_serving(dev))
		return pvu_ring_hold_all(dev);
	pvu_ring_settle_all(dev);
	return 0;
}
