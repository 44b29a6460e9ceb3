/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* The driver of the test frontend: buffers out, buffers back, packets both ways. */

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <linux/virtio_net.h>

#include "frontend.h"

static void
write_table(struct fe *fe, struct fe_buf *buf, bool write)
{
	struct vring_packed_desc *table;

	buf->table = fe_alloc(fe, buf->n * sizeof(*table));
	if (!(fe->features & FE_PACKED)) {
		fe_split_table(fe, buf, write);
		return;
	}
	table = (void *)fe_host(fe, buf->table);
	for (unsigned int i = 0; i < buf->n; i++) {
		/* Only WRITE counts in a table: the rest is there to mislead (2.8.19). */
		struct vring_packed_desc d = {
			.addr = fe_guest(fe, buf->off[i]),
			.len = buf->len[i],
			.id = 0xdead,
			.flags = (write ? VRING_DESC_F_WRITE : 0) | (i % 2 ? 0x8080 : 0),
		};

		memcpy(&table[i], &d, sizeof(d));
	}
}

static int
add(struct fe *fe, struct fe_ring *ring, const struct pvq_seg *segs, uint16_t n, uint16_t flags)
{
	return fe->features & FE_PACKED ? pvq_driver_add(&ring->drv, segs, n, flags)
					: fe_split_add(ring, segs, n, flags);
}

int
fe_offer(struct fe *fe, unsigned int index, struct fe_buf *buf, bool write, bool indirect)
{
	struct fe_ring *ring = &fe->ring[index];
	struct pvq_seg segs[FE_MAX_SEGS];
	int id;

	for (unsigned int i = 0; i < buf->n; i++)
		segs[i] = (struct pvq_seg){ fe_guest(fe, buf->off[i]), buf->len[i], write };
	if (indirect) {
		write_table(fe, buf, write);
		segs[0] = (struct pvq_seg){
			.addr = fe_guest(fe, buf->table),
			.len = buf->n * sizeof(struct vring_packed_desc),
		};
		id = add(fe, ring, segs, 1, VRING_DESC_F_INDIRECT);
	} else {
		id = add(fe, ring, segs, buf->n, 0);
	}
	if (id < 0)
		free(buf);
	else
		ring->buf[id] = buf;
	return id;
}

int
fe_raw(struct fe *fe, unsigned int index, const struct pvq_seg *segs, unsigned int n,
		uint16_t flags)
{
	struct fe_ring *ring = &fe->ring[index];
	int id = add(fe, ring, segs, n, flags);

	if (id >= 0)
		ring->buf[id] = fe_buf(fe, NULL, 0);
	return id;
}

struct vring_packed_desc *
fe_last_desc(struct fe *fe, unsigned int index, unsigned int back)
{
	struct pvq_driver *drv = &fe->ring[index].drv;

	return pvq_driver_desc(drv, drv->avail - 1 - back);
}

void
fe_table_flags(struct fe *fe, size_t table, unsigned int i, uint16_t flags)
{
	struct vring_packed_desc d;
	uint8_t *entry = fe_host(fe, table + i * sizeof(d));

	memcpy(&d, entry, sizeof(d));
	d.flags = flags;
	memcpy(entry, &d, sizeof(d));
}

struct fe_buf *
fe_take(struct fe *fe, unsigned int index, struct pvq_driver_used *used)
{
	struct fe_ring *ring = &fe->ring[index];
	struct fe_buf *buf;

	if (!(fe->features & FE_PACKED ? pvq_driver_poll(&ring->drv, used)
				       : fe_split_poll(ring, used)))
		return NULL;
	if (used->ndesc == 0) {
		fe_fault(fe, "ring %u: used id %u is not with the device", index, used->id);
		return NULL;
	}
	if ((used->flags & VRING_DESC_F_WRITE) != (used->len > 0 ? VRING_DESC_F_WRITE : 0))
		fe_fault(fe, "ring %u: used length %u with flags %#x", index, used->len,
				used->flags);
	buf = ring->buf[used->id];
	ring->buf[used->id] = NULL;
	return buf;
}

void
fe_fill(uint8_t *pkt, uint32_t len, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;

	for (uint32_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = pvq_rand(&state);

		memcpy(pkt + i, &word, len - i < sizeof(word) ? len - i : sizeof(word));
	}
}

unsigned int
fe_cut(uint64_t *seed, uint32_t total, unsigned int max, uint32_t *lens)
{
	unsigned int n = 1 + pvq_rand_below(seed, max);

	for (unsigned int i = 0; i < n - 1; i++) {
		/* Short pieces most of all, and now and then an empty one. */
		uint32_t most = pvq_rand_below(seed, 2) ? 20 : total;

		lens[i] = pvq_rand_below(seed, (most < total ? most : total) + 1);
		total -= lens[i];
	}
	lens[n - 1] = total;
	return n;
}

int
fe_send(struct fe *fe, unsigned int ring, const uint8_t *pkt, uint32_t len, const uint32_t *lens,
		unsigned int n, bool indirect)
{
	const struct virtio_net_hdr_mrg_rxbuf hdr = { 0 };
	const uint32_t whole = fe->hdr_len + len;
	struct fe_buf *buf = fe_buf(fe, n == 0 ? &whole : lens, n == 0 ? 1 : n);

	fe_buf_put(fe, buf, 0, &hdr, fe->hdr_len);
	fe_buf_put(fe, buf, fe->hdr_len, pkt, len);
	return fe_offer(fe, ring, buf, false, indirect);
}

unsigned int
fe_reap(struct fe *fe, unsigned int ring)
{
	struct pvq_driver_used used;
	struct fe_buf *buf;
	unsigned int n = 0;

	while ((buf = fe_take(fe, ring, &used)) != NULL) {
		if (used.len != 0)
			fe_fault(fe, "ring %u: %u bytes written into a packet sent", ring,
					used.len);
		free(buf);
		n++;
	}
	return n;
}

int
fe_post(struct fe *fe, unsigned int ring, const uint32_t *lens, unsigned int n, bool indirect)
{
	return fe_offer(fe, ring, fe_buf(fe, lens, n), true, indirect);
}

/* The first buffer's header: all zero but for the number of buffers. @return that number */
static unsigned int
check_header(struct fe *fe, unsigned int ring, const struct fe_buf *buf)
{
	struct virtio_net_hdr_mrg_rxbuf hdr = { .num_buffers = 1 }, want;

	fe_buf_get(fe, buf, 0, &hdr, fe->hdr_len);
	want = (struct virtio_net_hdr_mrg_rxbuf){ .num_buffers = hdr.num_buffers };
	if (memcmp(&hdr, &want, sizeof(hdr)) != 0)
		fe_fault(fe, "ring %u: header of a plain packet is not zero", ring);
	if (hdr.num_buffers == 0 || (hdr.num_buffers > 1 && !(fe->features & FE_MRG)) ||
			hdr.num_buffers > fe->ring[ring].drv.size) {
		fe_fault(fe, "ring %u: num_buffers is %u", ring, hdr.num_buffers);
		return 1;
	}
	return hdr.num_buffers;
}

int
fe_receive(struct fe *fe, unsigned int ring, uint8_t *pkt, uint32_t cap)
{
	uint32_t skip = fe->hdr_len, len = 0;
	struct pvq_driver_used used;
	struct fe_buf *buf = fe_take(fe, ring, &used);
	unsigned int left;

	if (buf == NULL)
		return FE_NONE;
	if (used.len == 0) {
		if (!fe_buf_untouched(fe, buf, 0))
			fe_fault(fe, "ring %u: bytes written into an empty buffer", ring);
		free(buf);
		return FE_EMPTY;
	}
	for (left = check_header(fe, ring, buf); buf != NULL; skip = 0) {
		if (used.len < skip || used.len > buf->total || used.len - skip > cap - len ||
				(left > 1 && used.len != buf->total)) {
			fe_fault(fe, "ring %u: length %u in a buffer of %u, %u to come", ring,
					used.len, buf->total, left);
			free(buf);
			break;
		}
		fe_buf_get(fe, buf, skip, pkt + len, used.len - skip);
		len += used.len - skip;
		if (!fe_buf_untouched(fe, buf, used.len))
			fe_fault(fe, "ring %u: bytes written beyond length %u", ring, used.len);
		free(buf);
		buf = --left > 0 ? fe_take(fe, ring, &used) : NULL;
	}
	if (left > 0)
		fe_fault(fe, "ring %u: %u buffers of a packet are missing", ring, left);
	return (int)len;
}
