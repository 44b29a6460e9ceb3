/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The requests about one ring. The index has been checked, and that the ring is stopped where the
 * table wants it stopped.
 */

#include <errno.h>
#include <string.h>

#include "pvu_priv.h"

static struct vhost_vring_state
get_state(const struct pvu_msg *msg)
{
	struct vhost_vring_state state;

	memcpy(&state, msg->payload, sizeof(state));
	return state;
}

int
pvu_set_vring_num(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct vhost_vring_state state = get_state(msg);
	int rc = pvu_ring_check_size(dev, state.num);

	if (rc < 0)
		return rc;
	dev->rings[state.index].size = state.num;
	pvu_ring_settle(dev, state.index);
	return 0;
}

int
pvu_set_vring_addr(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct vhost_vring_addr addr;
	struct pvu_vring *vr;
	int rc;

	memcpy(&addr, msg->payload, sizeof(addr));
	vr = &dev->rings[addr.index];
	rc = pvu_ring_check_addr(dev, vr, &addr);
	/* Addresses outside the memory may become right with the next table: a frontend that does
	 * not listen has them kept, and its ring not started.
	 */
	if (rc < 0 && (rc != -EFAULT || msg->need_reply))
		return rc;
	if (pvu_ring_hold(dev, addr.index) < 0)
		return -ETIMEDOUT;
	vr->addr = addr;
	vr->has_addr = true;
	pvu_ring_settle(dev, addr.index);
	return 0;
}

int
pvu_set_vring_base(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct vhost_vring_state state = get_state(msg);
	struct pvu_vring *vr = &dev->rings[state.index];
	int rc = pvu_ring_check_base(dev, vr, state.num);

	if (rc < 0)
		return rc;
	vr->base = state.num;
	vr->has_base = true;
	pvu_ring_settle(dev, state.index);
	return 0;
}

int
pvu_get_vring_base(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct vhost_vring_state state = get_state(msg);
	struct pvu_vring *vr = &dev->rings[state.index];

	if (pvu_ring_hold(dev, state.index) < 0)
		return -ETIMEDOUT;
	pvu_ring_unkick(vr);
	state.num = pvu_ring_base(dev, vr);
	memcpy(msg->reply, &state, sizeof(state));
	msg->reply_size = sizeof(state);
	return 0;
}

int
pvu_set_vring_enable(struct pvu_dev *dev, struct pvu_msg *msg)
{
	struct vhost_vring_state state = get_state(msg);

	if (state.num > 1)
		return pvu_fail(dev, -EINVAL, "ring %u: %u is neither 0 nor 1", state.index,
				state.num);
	dev->rings[state.index].enabled = (int8_t)state.num;
	if (state.num == 0)
		return pvu_ring_hold(dev, state.index);
	pvu_ring_settle(dev, state.index);
	return 0;
}

/* Exchange the descriptor at @p slot of ring @p i for the message's; the data thread has let go
 * of the old one before it is closed.
 */
static int
exchange_fd(struct pvu_dev *dev, struct pvu_msg *msg, unsigned int i, int *slot)
{
	int fd = -1;

	if (msg->nfds == 1) {
		fd = pvu_event_fd(dev, &msg->fds[0]);
		if (fd < 0)
			return fd;
	}
	if (pvu_ring_hold(dev, i) < 0) {
		pvu_close(&fd);
		return -ETIMEDOUT;
	}
	pvu_close(slot);
	*slot = fd;
	return 0;
}

static unsigned int
fd_index(const struct pvu_msg *msg)
{
	uint64_t word;

	memcpy(&word, msg->payload, sizeof(word));
	return word & PVU_FD_INDEX_MASK;
}

int
pvu_set_vring_kick(struct pvu_dev *dev, struct pvu_msg *msg)
{
	unsigned int i = fd_index(msg);
	int rc = exchange_fd(dev, msg, i, &dev->rings[i].kick_fd);

	if (rc < 0)
		return rc;
	dev->rings[i].kicked = true;
	pvu_ring_settle(dev, i);
	return 0;
}

int
pvu_set_vring_call(struct pvu_dev *dev, struct pvu_msg *msg)
{
	unsigned int i = fd_index(msg);
	int rc = exchange_fd(dev, msg, i, &dev->rings[i].call_fd);

	if (rc == 0)
		pvu_ring_settle(dev, i);
	return rc;
}

/* Nothing is ever signalled there: the frontend shares the open file, and could make this thread
 * block in the write.
 */
int
pvu_set_vring_err(struct pvu_dev *dev, struct pvu_msg *msg)
{
	(void)dev;
	(void)msg;
	return 0;
}
