/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef LOOPS_H
#define LOOPS_H

/**
 * @file
 * What the two sides of a transfer do, whatever the ring: one body each, to be instantiated with
 * constant functions, so that nothing in the loop is an indirect call.
 *
 * Buffers are numbered from 0. The device sees them in order, and the driver gets them back in
 * order; both count what is not so.
 */

#include "threads.h"

#define LOOPS_INLINE static inline __attribute__((always_inline))

/** A transfer of params->count buffers. */
struct loops {
	const struct params *params;
	void *driver, *device; /**< the rings' halves */
	/* Each side has its own line, or two where lines are fetched in pairs. */
	uint64_t driver_wrong __attribute__((aligned(256)));
	uint64_t device_wrong __attribute__((aligned(256)));
};

/** Hand buffer @p seq to the device. @return false: the ring is full */
typedef bool loops_add(void *ring, uint64_t seq);
/** After the last add of a burst. */
typedef void loops_publish(void *ring);
/** Take a buffer back. @return false: there is none */
typedef bool loops_used(void *ring, uint64_t *seq);
/** Take up to @p max buffers, the first of which should be @p seq, and give them back. */
typedef unsigned int loops_serve_some(void *ring, uint64_t seq, unsigned int max, uint64_t *wrong);

/*
 * Buffers of one descriptor that hold nothing: their address is their number, and the length that
 * the device says it has written follows from it.
 */

enum { LOOPS_BUFFER = 0x8000 };

static inline void *
loops_token(uint64_t seq)
{
	return (void *)(uintptr_t)(seq + 1);
}

static inline uint32_t
loops_len(uint64_t seq)
{
	return 1 + (uint32_t)(seq % LOOPS_BUFFER);
}

/** The number of the buffer that came back, or one that no buffer has if its length is wrong. */
static inline bool
loops_came_back(const void *token, uint32_t len, uint64_t *seq)
{
	if (token == NULL)
		return false;
	*seq = (uintptr_t)token - 1;
	if (len != loops_len(*seq))
		*seq = UINT64_MAX;
	return true;
}

LOOPS_INLINE void
loops_drive(struct loops *loops, void *ring, loops_add add, loops_publish publish, loops_used used)
{
	const uint64_t count = loops->params->count;
	const uint32_t burst = loops->params->burst;
	uint64_t added = 0, done = 0, wrong = 0, seq;
	struct threads_idle idle = { 0 };

	while (done < count) {
		uint64_t added_before = added, done_before = done;

		while (added < count && added - added_before < burst && add(ring, added))
			added++;
		if (added > added_before)
			publish(ring);
		while (done < added && done - done_before < burst && used(ring, &seq))
			wrong += seq != done++;
		if (added > added_before || done > done_before)
			idle = (struct threads_idle){ 0 };
		else
			threads_wait(&idle);
	}
	loops->driver_wrong = wrong;
}

LOOPS_INLINE void
loops_serve(struct loops *loops, void *ring, loops_serve_some serve_some)
{
	const uint64_t count = loops->params->count;
	const uint32_t burst = loops->params->burst;
	uint64_t done = 0, wrong = 0;
	struct threads_idle idle = { 0 };
	unsigned int n;

	while (done < count) {
		uint64_t left = count - done;

		n = serve_some(ring, done, left < burst ? (unsigned int)left : burst, &wrong);
		done += n;
		if (n > 0)
			idle = (struct threads_idle){ 0 };
		else
			threads_wait(&idle);
	}
	loops->device_wrong = wrong;
}

static inline void
loops_result(const struct loops *loops, struct sample *sample)
{
	sample->wrong = loops->driver_wrong + loops->device_wrong;
}

#endif /* LOOPS_H */
