/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What may arrive, and what is answered. The table rejects before any handler runs.
 *
 * Failures come in two kinds. A message that breaks the protocol (size, descriptors, version), or
 * that is owed a payload nobody can give, ends the connection. A message that is well formed but
 * cannot be done changes nothing and is answered by a non-zero acknowledgement; where the frontend
 * did not ask for one, the connection ends if the device would be left half configured.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "pvu_priv.h"

/* Where a payload names its ring. */
enum index_kind { NO_INDEX, STATE_INDEX, FD_INDEX };

/* Properties of a request. */
#define REPLIES 0x1 /* has a payload to reply with */
#define VITAL 0x2   /* the device cannot go on without it */
#define STOPPED 0x4 /* not while its ring runs */

struct pvu_request {
	const char *name;
	pvu_handler *handle; /* NULL: known, and refused */
	uint16_t min_size, max_size;
	uint8_t max_fds;
	uint8_t index;
	uint8_t flags;
	uint64_t need; /* protocol feature that must have been acknowledged */
};

#define ROW(name, handle, min, max, fds, index, flags, need)                                       \
	[PVU_##name] = { #name, handle, min, max, fds, index, flags, need }
#define REFUSED(name, flags) ROW(name, NULL, 0, PVU_MAX_PAYLOAD, PVU_MAX_FDS, NO_INDEX, flags, 0)

/* clang-format off */
static const struct pvu_request requests[PVU_NR_REQUESTS] = {
	/*  name, handler, payload from .. to, fds, ring index, properties, protocol feature */
	ROW(GET_FEATURES, pvu_get_features, 0, 0, 0, NO_INDEX, REPLIES, 0),
	ROW(SET_FEATURES, pvu_set_features, 8, 8, 0, NO_INDEX, VITAL, 0),
	ROW(SET_OWNER, pvu_set_owner, 0, 0, 0, NO_INDEX, 0, 0),
	ROW(RESET_OWNER, pvu_reset_owner, 0, 0, 0, NO_INDEX, 0, 0),
	ROW(SET_MEM_TABLE, pvu_set_mem_table, 8, 8 + 8 * 32, 8, NO_INDEX, VITAL, 0),
	REFUSED(SET_LOG_BASE, 0),
	REFUSED(SET_LOG_FD, 0),
	ROW(SET_VRING_NUM, pvu_set_vring_num, 8, 8, 0, STATE_INDEX, VITAL | STOPPED, 0),
	ROW(SET_VRING_ADDR, pvu_set_vring_addr, 40, 40, 0, STATE_INDEX, VITAL, 0),
	ROW(SET_VRING_BASE, pvu_set_vring_base, 8, 8, 0, STATE_INDEX, VITAL | STOPPED, 0),
	ROW(GET_VRING_BASE, pvu_get_vring_base, 8, 8, 0, STATE_INDEX, REPLIES, 0),
	ROW(SET_VRING_KICK, pvu_set_vring_kick, 8, 8, 1, FD_INDEX, 0, 0),
	ROW(SET_VRING_CALL, pvu_set_vring_call, 8, 8, 1, FD_INDEX, 0, 0),
	ROW(SET_VRING_ERR, pvu_set_vring_err, 8, 8, 1, FD_INDEX, 0, 0),
	ROW(GET_PROTOCOL_FEATURES, pvu_get_protocol_features, 0, 0, 0, NO_INDEX, REPLIES, 0),
	ROW(SET_PROTOCOL_FEATURES, pvu_set_protocol_features, 8, 8, 0, NO_INDEX, VITAL, 0),
	ROW(GET_QUEUE_NUM, pvu_get_queue_num, 0, 0, 0, NO_INDEX, REPLIES, 0),
	ROW(SET_VRING_ENABLE, pvu_set_vring_enable, 8, 8, 0, STATE_INDEX, 0, 0),
	REFUSED(SEND_RARP, 0),
	ROW(NET_SET_MTU, pvu_net_set_mtu, 8, 8, 0, NO_INDEX, 0, 0),
	REFUSED(SET_BACKEND_REQ_FD, 0),
	REFUSED(IOTLB_MSG, REPLIES),
	REFUSED(SET_VRING_ENDIAN, 0),
	ROW(GET_CONFIG, pvu_get_config, 12, PVU_MAX_PAYLOAD, 0, NO_INDEX, REPLIES,
			PVU_PROTO_CONFIG),
	ROW(SET_CONFIG, pvu_set_config, 12, PVU_MAX_PAYLOAD, 0, NO_INDEX, 0, PVU_PROTO_CONFIG),
	REFUSED(CREATE_CRYPTO_SESSION, REPLIES),
	REFUSED(CLOSE_CRYPTO_SESSION, 0),
	REFUSED(POSTCOPY_ADVISE, REPLIES),
	REFUSED(POSTCOPY_LISTEN, 0),
	REFUSED(POSTCOPY_END, REPLIES),
	REFUSED(GET_INFLIGHT_FD, REPLIES),
	REFUSED(SET_INFLIGHT_FD, 0),
	REFUSED(GPU_SET_SOCKET, 0),
	ROW(RESET_DEVICE, pvu_reset_device, 0, 0, 0, NO_INDEX, 0, 0),
	REFUSED(VRING_KICK, 0),
	REFUSED(GET_MAX_MEM_SLOTS, REPLIES),
	REFUSED(ADD_MEM_REG, 0),
	REFUSED(REM_MEM_REG, 0),
	ROW(SET_STATUS, pvu_set_status, 8, 8, 0, NO_INDEX, 0, PVU_PROTO_STATUS),
	ROW(GET_STATUS, pvu_get_status, 0, 0, 0, NO_INDEX, REPLIES, PVU_PROTO_STATUS),
	REFUSED(GET_SHARED_OBJECT, REPLIES),
	REFUSED(SET_DEVICE_STATE_FD, REPLIES),
	REFUSED(CHECK_DEVICE_STATE, REPLIES),
};
/* clang-format on */

/* A frontend that sends a number without a name may be waiting for any answer: it is told by the
 * end of the connection unless it asked for an acknowledgement.
 */
static const struct pvu_request unknown = {
	.name = "unknown", .max_size = PVU_MAX_PAYLOAD, .max_fds = PVU_MAX_FDS, .flags = VITAL
};

static const struct pvu_request *
find(uint32_t nr)
{
	return nr < PVU_NR_REQUESTS && requests[nr].name != NULL ? &requests[nr] : &unknown;
}

const char *
pvu_request_name(uint32_t request)
{
	return find(request)->name;
}

/* Can the payload that @p hdr announces be received at all? */
bool
pvu_proto_admits(struct pvu_dev *dev, const struct pvu_hdr *hdr)
{
	const struct pvu_request *req = find(hdr->request);

	if ((hdr->flags & PVU_VERSION_MASK) != PVU_VERSION)
		pvu_fail(dev, -EPROTO, "%s (%u): version %u", req->name, hdr->request,
				hdr->flags & PVU_VERSION_MASK);
	else if (hdr->flags & PVU_REPLY)
		pvu_fail(dev, -EPROTO, "%s (%u): a reply, not a request", req->name, hdr->request);
	else if (hdr->size < req->min_size || hdr->size > req->max_size)
		pvu_fail(dev, -EPROTO, "%s (%u): payload of %u bytes, not %u to %u", req->name,
				hdr->request, hdr->size, req->min_size, req->max_size);
	else
		return true;
	return false;
}

/* The index as the message has it, before anything shortens it. */
static uint64_t
ring_index(const struct pvu_request *req, const struct pvu_msg *msg)
{
	struct vhost_vring_state state;
	uint64_t word;

	memcpy(&state, msg->payload, sizeof(state));
	memcpy(&word, msg->payload, sizeof(word));
	return req->index == FD_INDEX ? word & ~PVU_FD_NONE : state.index;
}

static int
check_index(struct pvu_dev *dev, const struct pvu_request *req, const struct pvu_msg *msg)
{
	uint64_t i = ring_index(req, msg);
	uint64_t word;

	if (i >= dev->nrings)
		return pvu_fail(dev, -EINVAL, "ring %llu is not one of the %u offered",
				(unsigned long long)i, dev->nrings);
	if (req->flags & STOPPED && dev->rings[i].running)
		return pvu_fail(dev, -EBUSY, "ring %u is running", (unsigned int)i);
	if (req->index == FD_INDEX) {
		memcpy(&word, msg->payload, sizeof(word));
		if (msg->nfds != (word & PVU_FD_NONE ? 0 : 1))
			return pvu_fail(dev, -EPROTO, "ring %u: %u descriptors", (unsigned int)i,
					msg->nfds);
	}
	return 0;
}

static int
check(struct pvu_dev *dev, const struct pvu_request *req, const struct pvu_msg *msg)
{
	if (req->handle == NULL)
		return pvu_fail(dev, -EOPNOTSUPP, "not offered");
	if (msg->nfds > req->max_fds)
		return pvu_fail(dev, -EPROTO, "%u descriptors, at most %u", msg->nfds,
				req->max_fds);
	if (req->need & ~dev->now.protocol_features)
		return pvu_fail(dev, -EPERM, "its protocol feature was not acknowledged");
	return req->index == NO_INDEX ? 0 : check_index(dev, req, msg);
}

/* @return false if the connection cannot go on */
static bool
answer(struct pvu_dev *dev, const struct pvu_request *req, struct pvu_msg *msg, int result)
{
	uint64_t ack = result < 0;
	int rc = 0;

	if (result == -EPROTO || result == -ETIMEDOUT)
		return false;
	if (req->flags & REPLIES) {
		if (result < 0)
			return false;
		rc = pvu_conn_reply(dev, msg->hdr.request, msg->reply, msg->reply_size);
	} else if (msg->need_reply) {
		rc = pvu_conn_reply(dev, msg->hdr.request, &ack, sizeof(ack));
	} else if (result < 0 && req->flags & VITAL) {
		return false;
	}
	return rc == 0;
}

void
pvu_proto_handle(struct pvu_dev *dev, struct pvu_msg *msg)
{
	const struct pvu_request *req = find(msg->hdr.request);
	char reason[160];
	unsigned int i;
	int rc;

	/* Asked before the handler may change it. */
	msg->need_reply = msg->hdr.flags & PVU_NEED_REPLY &&
			  dev->now.protocol_features & PVU_PROTO_REPLY_ACK;
	rc = check(dev, req, msg);
	if (rc == 0)
		rc = req->handle(dev, msg);
	for (i = 0; i < msg->nfds; i++)
		pvu_close(&msg->fds[i]);

	dev->now.messages++;
	dev->now.last_result = rc;
	strlcpy(dev->now.last_message, req->name, sizeof(dev->now.last_message));
	if (rc < 0)
		pvu_complain(dev, "%s (%u): %s", req->name, msg->hdr.request, dev->why);
	/* A frontend that has its answer finds everything as the message left it. */
	pvu_dev_publish(dev);
	if (!answer(dev, req, msg, rc)) {
		snprintf(reason, sizeof(reason), "%s (%u): %s", req->name, msg->hdr.request,
				dev->why);
		pvu_dev_down(dev, reason);
		pvu_dev_publish(dev);
	}
}
