/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVHOST_HDR_H
#define PVHOST_HDR_H

/**
 * @file
 * The virtio-net header (virtio 1.2, section 5.1.6). No offload is offered: what a driver writes
 * there is ignored, and what we write is zero but for num_buffers.
 */

#include <stdint.h>
#include <string.h>

#include <linux/virtio_net.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

_Static_assert(sizeof(struct virtio_net_hdr) == 10, "5.1.6.1 Legacy Interface");
_Static_assert(sizeof(struct virtio_net_hdr_mrg_rxbuf) == 12, "5.1.6 Device Operation");

/** Length of the header under the negotiated features (5.1.6, 5.1.6.1). */
static inline uint8_t
pvhost_hdr_len(uint64_t features)
{
	const uint64_t with_num_buffers = RTE_BIT64(VIRTIO_F_VERSION_1) |
					  RTE_BIT64(VIRTIO_NET_F_MRG_RXBUF) |
					  RTE_BIT64(VIRTIO_F_RING_PACKED);

	return features & with_num_buffers ? sizeof(struct virtio_net_hdr_mrg_rxbuf)
					   : sizeof(struct virtio_net_hdr);
}

/** Write the header of a plain packet spread over @p num_buffers buffers. */
static inline void
pvhost_hdr_write(uint8_t *dst, uint8_t hdr_len, uint16_t num_buffers)
{
	const struct virtio_net_hdr_mrg_rxbuf hdr = { .num_buffers = num_buffers };

	if (likely(hdr_len == sizeof(hdr)))
		memcpy(dst, &hdr, sizeof(hdr));
	else
		memcpy(dst, &hdr.hdr, sizeof(hdr.hdr));
}

#endif /* PVHOST_HDR_H */
