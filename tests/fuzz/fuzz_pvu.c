/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A hostile frontend made of bytes. The input is a list of steps: raw messages, messages that are
 * nearly right, files cut short, a data thread that touches its rings. Whatever they are, the
 * backend must not crash, must not touch what is not mapped, and must leave no descriptor behind.
 *
 * clang -fsanitize=fuzzer,address,undefined fuzz_pvu.c fuzz_input.c pvu_peer.c pvu_peer_mem.c
 * pvu_*.c -lbsd
 */

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pvu.h"
#include "fuzz_input.h"

static struct pvu_loop *loop;
static struct {
	bool running;
	bool packed;
	struct pvu_ring ring;
} rings[FUZZ_NR_RINGS];
static const struct pvu_region *regions;
static unsigned int nregions;
static uint64_t features;
static volatile uint8_t sink;

/* An area of a ring must lie in one region; its first and last byte must be there. */
static void
touch_area(volatile uint8_t *area, size_t len, bool writable)
{
	unsigned int i;

	for (i = 0; i < nregions; i++) {
		uint8_t *start = regions[i].host;

		if (area >= start && area + len <= start + regions[i].size)
			break;
	}
	if (i == nregions)
		abort();
	sink = area[0] + area[len - 1];
	if (writable)
		area[len - 1] = 1;
}

static void
touch(unsigned int i)
{
	const struct pvu_ring *r = &rings[i].ring;
	size_t event = features >> 29 & 1 ? 2 : 0;

	touch_area(r->desc, 16 * (size_t)r->size, false);
	touch_area(r->driver, rings[i].packed ? 4 : 4 + 2 * r->size + event, false);
	touch_area(r->device, rings[i].packed ? 4 : 4 + 8 * r->size + event, true);
	if (r->call_fd >= 0 && eventfd_write(r->call_fd, 1) < 0)
		sink = 0;
}

static void
on_features(void *owner, uint64_t value)
{
	(void)owner;
	features = value;
}

static void
on_memory(void *owner, const struct pvu_region *table, unsigned int count)
{
	unsigned int i;

	(void)owner;
	for (i = 0; i < FUZZ_NR_RINGS; i++)
		if (rings[i].running)
			abort();
	regions = table;
	nregions = count;
	for (i = 0; i < count; i++)
		touch_area(table[i].host, table[i].size, true);
}

static int
on_start(void *owner, unsigned int i, const struct pvu_ring *ring)
{
	(void)owner;
	if (rings[i].running || ring->size == 0 || ring->size > 32768)
		abort();
	rings[i].packed = features >> 34 & 1;
	if (rings[i].packed ? (ring->base & 0x7fff) >= ring->size : ring->size & (ring->size - 1))
		abort();
	rings[i].running = true;
	rings[i].ring = *ring;
	touch(i);
	return 0;
}

static int
on_stop(void *owner, unsigned int i, uint16_t *base)
{
	(void)owner;
	if (!rings[i].running)
		abort();
	touch(i);
	rings[i].running = false;
	*base = rings[i].ring.base;
	return 0;
}

static void
on_changed(void *owner, const struct pvu_info *info)
{
	(void)owner;
	sink = (uint8_t)info->rings_running;
}

static void
on_log(void *owner, enum pvu_log_level level, const char *line)
{
	(void)owner;
	(void)level;
	if (strchr(line, '\n') != NULL)
		abort();
}

static const struct pvu_ops ops = { on_features, on_memory, on_start, on_stop, on_changed, on_log };

/* Mostly right; one twist at most. */
static void
message(struct input *in, struct peer *peer, uint32_t request)
{
	enum { FDS = 1, SIZE, BYTES, ALIEN, QUIET, REPLY } twist;
	uint8_t payload[1024] = { 0 }, how = fuzz_byte(in);
	uint32_t size = fuzz_payload(in, request, payload), flags, i;
	unsigned int nfds = fuzz_nfds(request, payload);
	int fds[12];

	twist = how & 0xf;
	if (twist == FDS)
		nfds = fuzz_byte(in) % 12;
	if (twist == SIZE)
		size = fuzz_word(in) % 300;
	for (i = 0; twist == BYTES && i < size && in->left != 0; i++)
		payload[i] = fuzz_byte(in);
	flags = twist == REPLY ? PVU_REPLY : twist == QUIET ? 0 : PVU_NEED_REPLY;
	for (i = 0; i < nfds; i++)
		fds[i] = fuzz_fd(twist == ALIEN                 ? fuzz_byte(in)
				 : request == PVU_SET_MEM_TABLE ? ((how >> 4) + i) & 1
								: 4);
	peer_send(peer, request, flags, payload, size, fds, nfds);
	for (i = 0; i < nfds; i++)
		close(fds[i]);
}

/* As far as a good frontend comes, or a part of the way. */
static void
begin(struct input *in, struct peer *peer)
{
	uint8_t how = fuzz_byte(in);
	struct peer_ring ring;
	uint64_t bits = FUZZ_FEATURES;

	if (!(how & 1))
		return;
	if (how & 2)
		bits &= ~(UINT64_C(1) << 34);
	peer_negotiate(peer, bits, how & 4 ? PVU_PROTO_STATUS : 0);
	if (how & 8)
		peer_ask_regions(peer, &(struct pvu_mem_region){ 0, FUZZ_MEM, FUZZ_USER, 0 },
				&fuzz_mem[0].fd, 1);
	if ((how & 0x18) != 0x18)
		return;
	peer->mem.user_addr = FUZZ_USER;
	peer_ring_place(&ring, how >> 6, 64, !(how & 2), 0x1000);
	peer_ring_start(peer, &ring);
	peer_ring_free(&ring);
	if (how & 4)
		peer_ask_u64(peer, PVU_SET_STATUS, 0xf);
}

static const uint8_t some_request[] = { PVU_SET_FEATURES, PVU_SET_MEM_TABLE, PVU_SET_VRING_NUM,
	PVU_SET_VRING_ADDR, PVU_SET_VRING_BASE, PVU_GET_VRING_BASE, PVU_SET_VRING_KICK,
	PVU_SET_VRING_CALL, PVU_SET_VRING_ERR, PVU_SET_VRING_ENABLE, PVU_SET_STATUS,
	PVU_RESET_OWNER, PVU_RESET_DEVICE, PVU_SET_PROTOCOL_FEATURES };

static void
step(struct input *in, struct peer *peer)
{
	uint8_t raw[64], kind = fuzz_byte(in), i;

	switch (kind % 8) {
	case 0:
		for (i = 0; i < kind / 8; i++)
			raw[i] = fuzz_byte(in);
		peer_send_bytes(peer, raw, i, NULL, 0);
		break;
	case 1:
		if (ftruncate(fuzz_mem[kind >> 7].fd, (off_t)(kind & 0x18) << 12) < 0)
			abort();
		break;
	case 2:
		for (i = 0; i < FUZZ_NR_RINGS; i++)
			if (rings[i].running)
				touch(i);
		break;
	default:
		message(in, peer,
				kind % 8 == 3 ? fuzz_byte(in) % (PVU_NR_REQUESTS + 2)
					      : some_request[fuzz_byte(in) % sizeof(some_request)]);
	}
}

static void
pump(void *arg)
{
	(void)arg;
	pvu_loop_poll(loop, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pvu_params params = { .path = "fuzz",
		.nrings = FUZZ_NR_RINGS,
		.features = FUZZ_FEATURES,
		.config = "configuration",
		.config_len = 12,
		.ops = &ops };
	struct input in = { data, size };
	struct peer peer = { .fd = -1, .pump = pump };
	struct pvu_dev *dev;
	unsigned int i;
	int lowest;

	if (loop == NULL) {
		loop = pvu_loop_create();
		for (i = 0; i < 2; i++)
			if (peer_mem_new(&fuzz_mem[i], FUZZ_MEM, 0, FUZZ_USER) < 0)
				abort();
	}
	for (i = 0; i < 2; i++)
		if (ftruncate(fuzz_mem[i].fd, FUZZ_MEM) < 0)
			abort();
	lowest = dup(STDIN_FILENO);
	close(lowest);

	if (pvu_dev_create_fd(loop, &params, peer_pair(&peer), &dev) < 0)
		abort();
	begin(&in, &peer);
	while (in.left != 0 && !peer_is_closed(&peer))
		step(&in, &peer);
	for (i = 0; i < 8; i++)
		pvu_loop_poll(loop, 0);
	pvu_dev_destroy(dev);
	close(peer.fd);

	i = (unsigned int)dup(STDIN_FILENO);
	close((int)i);
	if ((int)i != lowest)
		abort();
	return 0;
}
