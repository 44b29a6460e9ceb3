/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "frontend.h"

#define GAP 16 /* bytes of poison between two pieces of the heap */

void
fe_fault(struct fe *fe, const char *fmt, ...)
{
	va_list ap;

	if (fe->faults++ >= 3)
		return;
	va_start(ap, fmt);
	vwarnx(fmt, ap);
	va_end(ap);
}

int
fe_greet(struct fe *fe, uint64_t features)
{
	uint64_t offered;
	int rc = peer_get_u64(&fe->peer, PVU_GET_FEATURES, &offered);

	if (rc != 0)
		return rc;
	fe->features = features;
	fe->hdr_len = features & (FE_VERSION_1 | FE_MRG | FE_PACKED) ? 12 : 10;
	rc = peer_negotiate(&fe->peer, features, 0);
	fe->heap = FE_HEAP;
	return rc != 0 ? rc : peer_share(&fe->peer, FE_MEM_SIZE);
}

int
fe_open(struct fe *fe, const char *path, uint64_t features)
{
	int rc = -1;

	*fe = (struct fe){ .peer.fd = -1 };
	for (unsigned int i = 0; i < 200 && rc != 0; i++) {
		rc = peer_connect(&fe->peer, path);
		if (rc == 0)
			rc = fe_greet(fe, features);
		if (rc == 0)
			break;
		fe_close(fe);
		usleep(10000);
	}
	return rc;
}

int
fe_rejoin(struct fe *fe, const char *path)
{
	const size_t heap = fe->heap;
	int rc = -1;

	for (unsigned int i = 0; i < 200 && rc != 0; i++) {
		peer_close(&fe->peer);
		rc = peer_connect(&fe->peer, path);
		if (rc == 0)
			rc = fe_greet(fe, fe->features);
		if (rc != 0)
			usleep(10000);
	}
	fe->heap = heap;
	for (unsigned int i = 0; i < FE_MAX_RINGS && rc == 0; i++) {
		struct fe_ring *ring = &fe->ring[i];

		if (ring->buf == NULL)
			continue;
		ring->wire.base = pvq_cursor_pack(pvq_driver_cursor(&ring->drv, ring->drv.used));
		rc = peer_ring_start(&fe->peer, &ring->wire);
	}
	return rc;
}

static void
ring_free(struct fe_ring *ring)
{
	if (ring->buf == NULL)
		return;
	for (unsigned int id = 0; id < ring->drv.size; id++)
		free(ring->buf[id]);
	free(ring->buf);
	free(ring->drv.free_ids);
	free(ring->drv.ndesc);
	free(ring->link);
	peer_ring_free(&ring->wire);
	*ring = (struct fe_ring){ 0 };
}

void
fe_close(struct fe *fe)
{
	peer_close(&fe->peer);
	for (unsigned int i = 0; i < FE_MAX_RINGS; i++)
		ring_free(&fe->ring[i]);
	peer_mem_free(&fe->peer.mem);
}

static void
packed_place(struct fe_ring *ring, uint64_t slots)
{
	struct pvq_cursor c;

	memset(ring->drv.desc, 0, ring->drv.size * sizeof(ring->drv.desc[0]));
	*ring->drv.driver_event = (struct vring_packed_desc_event){ 0 };
	*ring->drv.device_event = (struct vring_packed_desc_event){ 0xabcd, 0xabcd };
	/* What the lap before left behind, slot by slot. */
	ring->drv.avail = ring->drv.used = slots;
	for (uint64_t pos = slots > ring->drv.size ? slots - ring->drv.size : 0; pos < slots; pos++)
		pvq_driver_write(&ring->drv, pos, 0, 0, 0, pvq_driver_used_flags(&ring->drv, pos));
	c = pvq_driver_cursor(&ring->drv, slots);
	ring->wire.base = c.idx | (uint32_t)c.wrap << 15;
}

void
fe_ring_place(struct fe *fe, unsigned int index, uint16_t size, uint64_t slots)
{
	const bool packed = fe->features & FE_PACKED;
	struct fe_ring *ring = &fe->ring[index];

	ring_free(ring);
	peer_ring_place(&ring->wire, index, size, packed, index * FE_RING_BYTES);
	ring->drv = (struct pvq_driver){
		.desc = (void *)fe_host(fe, ring->wire.desc),
		.driver_event = (void *)fe_host(fe, ring->wire.driver),
		.device_event = (void *)fe_host(fe, ring->wire.device),
		.free_ids = calloc(size, sizeof(ring->drv.free_ids[0])),
		.ndesc = calloc(size, sizeof(ring->drv.ndesc[0])),
		.nfree_ids = size,
		.size = size,
	};
	ring->buf = calloc(size, sizeof(ring->buf[0]));
	if (ring->drv.free_ids == NULL || ring->drv.ndesc == NULL || ring->buf == NULL)
		err(1, "ring");
	for (unsigned int i = 0; i < size; i++)
		ring->drv.free_ids[i] = i;
	if (packed)
		packed_place(ring, slots);
	else
		fe_split_place(fe, ring, slots);
}

int
fe_ring_up(struct fe *fe, unsigned int index, uint16_t size, uint64_t slots)
{
	fe_ring_place(fe, index, size, slots);
	return peer_ring_start(&fe->peer, &fe->ring[index].wire);
}

struct pvq_cursor
fe_ring_base(struct fe *fe, unsigned int index)
{
	uint32_t num = 0;

	if (peer_get_base(&fe->peer, index, &num) != 0)
		fe_fault(fe, "ring %u: no answer to GET_VRING_BASE", index);
	return pvq_cursor_unpack((uint16_t)num);
}

int
fe_ring_resume(struct fe *fe, unsigned int index)
{
	return peer_ask_fd(&fe->peer, PVU_SET_VRING_KICK, index, fe->ring[index].wire.kick_fd);
}

bool
fe_ring_level(struct fe *fe, unsigned int index)
{
	const struct pvq_driver *drv = &fe->ring[index].drv;
	uint16_t want = fe->features & FE_PACKED
					? pvq_cursor_pack(pvq_driver_cursor(drv, drv->avail))
					: drv->avail;
	uint16_t got = pvq_cursor_pack(fe_ring_base(fe, index));

	return fe_ring_resume(fe, index) == 0 && drv->avail == drv->used && got == want;
}

uint64_t
fe_calls(struct fe_ring *ring)
{
	eventfd_t count = 0;

	if (eventfd_read(ring->wire.call_fd, &count) < 0)
		return 0;
	return count;
}

size_t
fe_alloc(struct fe *fe, size_t len)
{
	size_t off;

	/* A device that completes in order is done with what lies there by now. */
	if (fe->heap + len + 2 * GAP > fe->peer.mem.size)
		fe->heap = FE_HEAP;
	off = fe->heap + GAP;
	memset(fe_host(fe, fe->heap), FE_POISON, len + 2 * GAP);
	fe->heap = off + len;
	return off;
}

struct fe_buf *
fe_buf(struct fe *fe, const uint32_t *lens, unsigned int n)
{
	struct fe_buf *buf = calloc(1, sizeof(*buf));

	if (buf == NULL || n > FE_MAX_SEGS)
		errx(1, "buffer of %u segments", n);
	buf->n = n;
	for (unsigned int i = 0; i < n; i++) {
		buf->off[i] = fe_alloc(fe, lens[i]);
		buf->len[i] = lens[i];
		buf->total += lens[i];
	}
	return buf;
}

/* Walk over @p len bytes from @p at on, copying out of the buffer or into it. */
static void
buf_copy(struct fe *fe, const struct fe_buf *buf, uint32_t at, uint8_t *data, uint32_t len,
		bool put)
{
	for (unsigned int i = 0; i < buf->n && len > 0; i++) {
		uint32_t part = buf->len[i] - at;

		if (at >= buf->len[i]) {
			at -= buf->len[i];
			continue;
		}
		if (part > len)
			part = len;
		if (put)
			memcpy(fe_host(fe, buf->off[i] + at), data, part);
		else
			memcpy(data, fe_host(fe, buf->off[i] + at), part);
		data += part;
		len -= part;
		at = 0;
	}
	if (len > 0)
		errx(1, "a buffer is %u bytes too short", len);
}

void
fe_buf_put(struct fe *fe, const struct fe_buf *buf, uint32_t at, const void *data, uint32_t len)
{
	buf_copy(fe, buf, at, (void *)(uintptr_t)data, len, true);
}

void
fe_buf_get(struct fe *fe, const struct fe_buf *buf, uint32_t at, void *data, uint32_t len)
{
	buf_copy(fe, buf, at, data, len, false);
}

static bool
all_poison(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != FE_POISON)
			return false;
	return true;
}

bool
fe_buf_untouched(struct fe *fe, const struct fe_buf *buf, uint32_t from)
{
	for (unsigned int i = 0; i < buf->n; i++) {
		const uint8_t *seg = fe_host(fe, buf->off[i]);
		uint32_t written = from < buf->len[i] ? from : buf->len[i];

		/* The gap behind may have been given to a table by now, but never less of it. */
		if (!all_poison(seg - GAP, GAP) ||
				!all_poison(seg + written, buf->len[i] - written + GAP))
			return false;
		from -= written;
	}
	return true;
}
