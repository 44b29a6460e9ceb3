/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The memory and the rings of the test frontend. */

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pvu_peer.h"

int
peer_mem_new(struct peer_mem *mem, size_t size, uint64_t guest_addr, uint64_t user_addr)
{
	*mem = (struct peer_mem){ .size = size, .guest_addr = guest_addr, .user_addr = user_addr };
	mem->fd = memfd_create("peer", MFD_CLOEXEC);
	if (mem->fd < 0)
		return -errno;
	if (ftruncate(mem->fd, (off_t)size) < 0)
		return -errno;
	mem->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem->fd, 0);
	return mem->base == MAP_FAILED ? -errno : 0;
}

void
peer_mem_free(struct peer_mem *mem)
{
	if (mem->base == NULL)
		return;
	munmap(mem->base, mem->size);
	close(mem->fd);
	mem->base = NULL;
}

struct pvu_mem_region
peer_mem_region(const struct peer_mem *mem)
{
	return (struct pvu_mem_region){
		.guest_addr = mem->guest_addr,
		.size = mem->size,
		.user_addr = mem->user_addr,
	};
}

int
peer_ask_regions(struct peer *peer, const struct pvu_mem_region *regions, const int *fds,
		unsigned int count)
{
	struct pvu_mem_hdr hdr = { .count = count };
	uint8_t payload[sizeof(hdr) + 8 * sizeof(*regions)];

	memcpy(payload, &hdr, sizeof(hdr));
	memcpy(payload + sizeof(hdr), regions, count * sizeof(*regions));
	return peer_ask(peer, PVU_SET_MEM_TABLE, payload,
			(uint32_t)(sizeof(hdr) + count * sizeof(*regions)), fds, count);
}

int
peer_share(struct peer *peer, size_t size)
{
	struct pvu_mem_region region;

	/* Addresses of both kinds far from each other and from any pointer of this process. */
	if (peer->mem.base == NULL && peer_mem_new(&peer->mem, size, 0x100000000, 0x7000000000) < 0)
		return PEER_CLOSED;
	region = peer_mem_region(&peer->mem);
	return peer_ask_regions(peer, &region, &peer->mem.fd, 1);
}

static size_t
align(size_t value, size_t to)
{
	return (value + to - 1) / to * to;
}

void
peer_ring_place(struct peer_ring *ring, uint32_t index, uint32_t size, bool packed, size_t offset)
{
	*ring = (struct peer_ring){ .index = index, .size = size, .packed = packed };
	ring->desc = offset;
	ring->driver = offset + 16 * (size_t)size;
	ring->device = align(ring->driver + (packed ? 4 : 6 + 2 * (size_t)size), 4);
	ring->base = packed ? 0x8000 : 0;
	ring->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ring->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

struct vhost_vring_addr
peer_ring_addr(const struct peer *peer, const struct peer_ring *ring)
{
	return (struct vhost_vring_addr){
		.index = ring->index,
		.desc_user_addr = peer->mem.user_addr + ring->desc,
		.avail_user_addr = peer->mem.user_addr + ring->driver,
		.used_user_addr = peer->mem.user_addr + ring->device,
	};
}

int
peer_ring_start(struct peer *peer, struct peer_ring *ring)
{
	struct vhost_vring_addr addr = peer_ring_addr(peer, ring);
	int rc = peer_ask_state(peer, PVU_SET_VRING_NUM, ring->index, ring->size);

	if (rc == 0)
		rc = peer_ask_state(peer, PVU_SET_VRING_BASE, ring->index, ring->base);
	if (rc == 0)
		rc = peer_ask(peer, PVU_SET_VRING_ADDR, &addr, sizeof(addr), NULL, 0);
	if (rc == 0)
		rc = peer_ask_fd(peer, PVU_SET_VRING_CALL, ring->index, ring->call_fd);
	if (rc == 0)
		rc = peer_ask_fd(peer, PVU_SET_VRING_KICK, ring->index, ring->kick_fd);
	if (rc == 0)
		rc = peer_ask_state(peer, PVU_SET_VRING_ENABLE, ring->index, 1);
	return rc;
}

void
peer_ring_free(struct peer_ring *ring)
{
	if (ring->kick_fd >= 0)
		close(ring->kick_fd);
	if (ring->call_fd >= 0)
		close(ring->call_fd);
	ring->kick_fd = -1;
	ring->call_fd = -1;
}
