/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVU_PEER_H
#define PVU_PEER_H

/* A vhost-user frontend for tests. It sends exactly what it is told to, right or wrong, and waits
 * for nothing longer than a second. It needs no backend library: the backend may be in another
 * thread or process, or in this thread, which then lets it work from pump().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pvu_msg.h"

#define PEER_TIMEOUT_MS 1000

/* What peer_ask() and peer_reply() return besides an acknowledgement. */
#define PEER_CLOSED (-1)
#define PEER_SILENT (-2)
#define PEER_WRONG (-3) /* an answer to another request, or of another size */

/* Memory a frontend shares: one memfd, mapped here, told to the backend as one region. */
struct peer_mem {
	int fd;
	size_t size;
	uint8_t *base;
	uint64_t guest_addr;
	uint64_t user_addr;
};

struct peer {
	int fd;
	void (*pump)(void *arg); /* NULL: the backend has a thread of its own */
	void *arg;
	struct peer_mem mem;
};

/* A ring laid out in a peer's memory. Areas are one after the other from a page boundary on. */
struct peer_ring {
	uint32_t index;
	uint32_t size;
	bool packed;
	size_t desc, driver, device; /* offsets in the memory */
	uint32_t base;
	int kick_fd, call_fd; /* eventfds, -1: none */
};

struct peer_answer {
	struct pvu_hdr hdr;
	uint8_t payload[PVU_MAX_PAYLOAD];
};

/* Connecting. @return 0 or a negative errno */
int peer_connect(struct peer *peer, const char *path);
/* @return the backend's end of a new socket pair, or a negative errno */
int peer_pair(struct peer *peer);
void peer_close(struct peer *peer);
/* Has the backend hung up? Lets it work first. */
bool peer_is_closed(struct peer *peer);
void peer_pump(struct peer *peer);

/* Sending. @return 0 or a negative errno */
int peer_send_bytes(struct peer *peer, const void *bytes, size_t len, const int *fds,
		unsigned int nfds);
int peer_send(struct peer *peer, uint32_t request, uint32_t flags, const void *payload,
		uint32_t size, const int *fds, unsigned int nfds);

/* Wait for an answer. @return 1, PEER_CLOSED or PEER_SILENT */
int peer_receive(struct peer *peer, struct peer_answer *answer);
/* Wait for the answer to @p request, of @p size bytes. @return 0 or PEER_* */
int peer_reply(struct peer *peer, uint32_t request, void *payload, uint32_t size);

/* Send with NEED_REPLY and wait. @return the acknowledgement, 0 if all went well, or PEER_* */
int peer_ask(struct peer *peer, uint32_t request, const void *payload, uint32_t size,
		const int *fds, unsigned int nfds);
int peer_ask_u64(struct peer *peer, uint32_t request, uint64_t value);
int peer_ask_state(struct peer *peer, uint32_t request, uint32_t index, uint32_t num);
/* @p fd -1: say that there is none */
int peer_ask_fd(struct peer *peer, uint32_t request, uint32_t index, int fd);

/* Ask a request that has a payload to answer with. @return 0 or PEER_* */
int peer_get_u64(struct peer *peer, uint32_t request, uint64_t *value);
int peer_get_base(struct peer *peer, uint32_t index, uint32_t *num);

/* Negotiate: protocol features REPLY_ACK and @p proto, then @p features with bit 30. */
int peer_negotiate(struct peer *peer, uint64_t features, uint64_t proto);

/* Memory. @return 0 or a negative errno */
int peer_mem_new(struct peer_mem *mem, size_t size, uint64_t guest_addr, uint64_t user_addr);
void peer_mem_free(struct peer_mem *mem);
struct pvu_mem_region peer_mem_region(const struct peer_mem *mem);
/* SET_MEM_TABLE with these regions and descriptors. @return as peer_ask() */
int peer_ask_regions(struct peer *peer, const struct pvu_mem_region *regions, const int *fds,
		unsigned int count);
/* Make memory if there is none yet, and send it as the table. @return as peer_ask() */
int peer_share(struct peer *peer, size_t size);

/* Rings. The ring @p index gets the pages from @p offset of the peer's memory on. */
void peer_ring_place(
		struct peer_ring *ring, uint32_t index, uint32_t size, bool packed, size_t offset);
struct vhost_vring_addr peer_ring_addr(const struct peer *peer, const struct peer_ring *ring);
/* NUM, BASE, ADDR, CALL, KICK and ENABLE. @return 0, or the first answer that was not 0 */
int peer_ring_start(struct peer *peer, struct peer_ring *ring);
void peer_ring_free(struct peer_ring *ring);

/* Descriptors this process has open. */
unsigned int peer_count_fds(void);

#endif /* PVU_PEER_H */
