/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef FRONTEND_H
#define FRONTEND_H

/**
 * @file
 * A frontend with a driver: the vhost-user peer, rings in its memory, and buffers for them. The
 * rings are packed or split as the features say.
 *
 * Everything a driver can see is checked here: used entries, lengths, headers, and that no byte
 * was written which was not to be. What is wrong is printed and counted in *faults*, so that these
 * functions may run in any thread.
 */

#include "pvq_driver.h"
#include "pvu_peer.h"

#define FE_RING_BYTES ((size_t)1 << 20) /* a ring of 32768 entries and its events */
#define FE_MAX_RINGS 8
#define FE_HEAP (FE_MAX_RINGS * FE_RING_BYTES) /* buffers come after the rings */
#define FE_MEM_SIZE ((size_t)40 << 20)
#define FE_MAX_SEGS 48
#define FE_POISON 0xee /* what a buffer holds before the device writes */

/* The rings of the first pair, named from the driver's side. */
#define FE_RXQ 0
#define FE_TXQ 1

#define FE_F(bit) (UINT64_C(1) << (bit))
#define FE_MRG FE_F(15)
#define FE_INDIRECT FE_F(28)
#define FE_EVENT_IDX FE_F(29)
#define FE_VERSION_1 FE_F(32)
#define FE_PACKED FE_F(34)
#define FE_IN_ORDER FE_F(35)
#define FE_PLAIN (FE_VERSION_1 | FE_PACKED | FE_INDIRECT)
#define FE_SPLIT (FE_VERSION_1 | FE_INDIRECT)

/** A buffer cut into segments, all in the frontend's memory. */
struct fe_buf {
	size_t off[FE_MAX_SEGS]; /**< in the memory */
	uint32_t len[FE_MAX_SEGS];
	uint16_t n;
	size_t table;   /**< offset of its indirect table */
	uint32_t total; /**< bytes */
};

struct fe_ring {
	struct peer_ring wire;
	struct pvq_driver drv;
	struct fe_buf **buf; /**< by id: the buffer that is with the device */

	/* A split ring has these; of drv it has the counts, in buffers, and the free descriptors.
	 */
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	uint16_t *link; /**< the next descriptor of a buffer */
};

#define FE_GUARD 0xa5a5 /* behind a split used ring: nobody's without EVENT_IDX */

static inline uint16_t *
fe_split_guard(const struct fe_ring *ring)
{
	return (uint16_t *)(void *)&ring->used->ring[ring->drv.size];
}

struct fe {
	struct peer peer;
	uint64_t features;
	uint32_t hdr_len;
	struct fe_ring ring[FE_MAX_RINGS];
	size_t heap;
	unsigned int faults;
};

/** Say what the device did wrong. */
void fe_fault(struct fe *fe, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Connect, ask for the features and acknowledge @p features, share the memory. Tries again for two
 *  seconds while the backend turns us away. @return 0, or what went wrong
 */
int fe_open(struct fe *fe, const char *path, uint64_t features);
/** The same but for the connection: *fe->peer.fd* is one. */
int fe_greet(struct fe *fe, uint64_t features);
/** A new connection for the same driver, its memory and rings as they are. @return the same */
int fe_rejoin(struct fe *fe, const char *path);
void fe_close(struct fe *fe);

/** Lay ring @p index out, @p slots slots after its beginning, without telling the backend. */
void fe_ring_place(struct fe *fe, unsigned int index, uint16_t size, uint64_t slots);
/** Lay it out and start it. @return 0, or what went wrong */
int fe_ring_up(struct fe *fe, unsigned int index, uint16_t size, uint64_t slots);
/** GET_VRING_BASE, which stops the ring, as a cursor; on a split ring pack it again. */
struct pvq_cursor fe_ring_base(struct fe *fe, unsigned int index);
/** Start it again after that. @return 0, or what went wrong */
int fe_ring_resume(struct fe *fe, unsigned int index);
/** Stopped, is the device where the driver is: all taken, all given back? Then the ring
 *  is started again.
 */
bool fe_ring_level(struct fe *fe, unsigned int index);
/** What pvq_driver_add(), pvq_driver_poll() and the rest do, on a split ring. */
void fe_split_place(struct fe *fe, struct fe_ring *ring, uint64_t count);
int fe_split_add(struct fe_ring *ring, const struct pvq_seg *segs, uint16_t n, uint16_t flags);
bool fe_split_poll(struct fe_ring *ring, struct pvq_driver_used *used);
/** Write the table of @p buf, at buf->table. */
void fe_split_table(struct fe *fe, const struct fe_buf *buf, bool write);

/** How often the device has called since this was last asked. */
uint64_t fe_calls(struct fe_ring *ring);

/** Room for @p len bytes, between two gaps of poison. @return its offset */
size_t fe_alloc(struct fe *fe, size_t len);
static inline uint8_t *
fe_host(const struct fe *fe, size_t off)
{
	return fe->peer.mem.base + off;
}
static inline uint64_t
fe_guest(const struct fe *fe, size_t off)
{
	return fe->peer.mem.guest_addr + off;
}

/** A buffer of these segments, filled with poison. */
struct fe_buf *fe_buf(struct fe *fe, const uint32_t *lens, unsigned int n);
void fe_buf_put(struct fe *fe, const struct fe_buf *buf, uint32_t at, const void *data,
		uint32_t len);
void fe_buf_get(struct fe *fe, const struct fe_buf *buf, uint32_t at, void *data, uint32_t len);
/** Is there poison in the buffer from byte @p from on, and around it? */
bool fe_buf_untouched(struct fe *fe, const struct fe_buf *buf, uint32_t from);

/** Make a buffer available, directly or through a table. @return its id; -1: no room, it is freed
 */
int fe_offer(struct fe *fe, unsigned int ring, struct fe_buf *buf, bool write, bool indirect);
/** Make descriptors available as they are; taken back, they are a buffer of no segments.
 *  @return the id, or -1: no room
 */
int fe_raw(struct fe *fe, unsigned int ring, const struct pvq_seg *segs, unsigned int n,
		uint16_t flags);
/** The descriptor that was made available @p back slots ago, 0 the last. */
struct vring_packed_desc *fe_last_desc(struct fe *fe, unsigned int ring, unsigned int back);
/** Set the flags of entry @p i of the indirect table at @p table, which need not be aligned. */
void fe_table_flags(struct fe *fe, size_t table, unsigned int i, uint16_t flags);
/** Take a buffer back; free() it. @return NULL: there is none */
struct fe_buf *fe_take(struct fe *fe, unsigned int ring, struct pvq_driver_used *used);

/** Random bytes that @p seed alone determines. */
void fe_fill(uint8_t *pkt, uint32_t len, uint64_t seed);
/** Cut @p total bytes into at most @p max segments. @return their number */
unsigned int fe_cut(uint64_t *seed, uint32_t total, unsigned int max, uint32_t *lens);

/** Send a packet: a zero header and @p len bytes, cut into @p lens, or for @p n 0 in one segment.
 *  @return the buffer's id, or -1: no room
 */
int fe_send(struct fe *fe, unsigned int ring, const uint8_t *pkt, uint32_t len,
		const uint32_t *lens, unsigned int n, bool indirect);
/** Take back the buffers of packets that were sent. @return how many */
unsigned int fe_reap(struct fe *fe, unsigned int ring);
/** Post a buffer to receive into. @return its id, or -1: no room */
int fe_post(struct fe *fe, unsigned int ring, const uint32_t *lens, unsigned int n, bool indirect);

#define FE_NONE (-1)
#define FE_EMPTY (-2) /* a buffer came back with nothing in it */
/** Receive one packet, over one buffer or more, and check all about it.
 *  @return its length, FE_NONE or FE_EMPTY
 */
int fe_receive(struct fe *fe, unsigned int ring, uint8_t *pkt, uint32_t cap);

#endif /* FRONTEND_H */
