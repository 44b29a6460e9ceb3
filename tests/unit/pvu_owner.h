/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVU_OWNER_H
#define PVU_OWNER_H

/* What the tests of lib/pvu share: a loop and one device on it, run in the test's own thread, and
 * a record of all callbacks. Checks about callbacks that always hold are made here.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <CUnit/Basic.h>

#include "pvu.h"
#include "pvu_peer.h"

#define BIT(n) (UINT64_C(1) << (n))

#define F_MRG_RXBUF BIT(15)
#define F_EVENT_IDX BIT(29)
#define F_VERSION_1 BIT(32)
#define F_PACKED BIT(34)
#define F_IN_ORDER BIT(35)
#define ALL_FEATURES (F_MRG_RXBUF | F_EVENT_IDX | F_VERSION_1 | F_PACKED | F_IN_ORDER)

#define S_OK_ALL 0xf /* ACKNOWLEDGE, DRIVER, DRIVER_OK, FEATURES_OK */

#define NR_RINGS 8

struct owner {
	struct pvu_loop *loop;
	struct pvu_dev *dev;

	uint64_t features;
	unsigned int feature_calls;
	const struct pvu_region *regions;
	unsigned int nregions;
	struct {
		bool running;
		unsigned int starts, stops;
		struct pvu_ring ring; /* as it was started last */
		uint16_t base;        /* what ring_stop() returns; set by ring_start() */
		int start_result, stop_result;
	} rings[PVU_MAX_RINGS];
	unsigned int changes;
	struct pvu_info info; /* of the last change */
	atomic_uint lines;    /* the thread tests look at it */
	unsigned int warnings;
	char line[256]; /* the last one */
	bool verbose;
};

extern const struct pvu_ops owner_ops;

/* A device on one end of a socket pair, a peer on the other. */
void owner_open(struct owner *o, struct peer *peer);
/* A device on a socket path. */
int owner_listen(struct owner *o, const char *path, bool client);
void owner_close(struct owner *o);
/* Let the loop work until it has nothing to do. */
void owner_pump(void *arg);
/* The two together, negotiated, with memory of @p size bytes: rings can be started. */
void owner_ready(struct owner *o, struct peer *peer, uint64_t features, size_t size);
void owner_done(struct owner *o, struct peer *peer);
/* As these two, with ring 0 of 64 entries running meanwhile. */
void owner_running(struct owner *o, struct peer *peer, struct peer_ring *ring, uint64_t features,
		size_t size);
void owner_stopped(struct owner *o, struct peer *peer, struct peer_ring *ring);

/* A file name in a folder of its own, removed at exit. */
const char *test_path(const char *name);

struct test_case {
	const char *name;
	void (*run)(void);
};

/* Run all, print CUnit's summary. @return the process's exit code */
int run_tests(const char *suite, const struct test_case *cases, unsigned int count);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif /* PVU_OWNER_H */
