/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ARGS_MIN_SIZE = 64,
	ARGS_MAX_SIZE = 9600,  /* virtio_user receives frames of up to 9,728 bytes, all told */
	ARGS_MAX_BURST = 512,  /* pvfwd's own bound, as testpmd's */
	ARGS_MAX_QUEUES = 8,   /* pairs that virtio_user accepts */
	ARGS_MIN_RING = 32,    /* what virtio_user accepts */
	ARGS_MAX_RING = 32768, /* virtio's bound */
	EXIT_USAGE = 2,
};

/** What the user asked for. */
struct options {
	const char *backend;    /**< "pvhost" or "vhost" */
	const char *pvfwd;      /**< the user's path of pvfwd, or NULL */
	const char *driver;     /**< a driver to load into the middle, or NULL */
	const char *json;       /**< where the result goes too, or NULL */
	uint64_t packets;       /**< stop after exactly so many; 0: after `duration` */
	unsigned int duration;  /**< seconds */
	unsigned int size;      /**< bytes a frame */
	unsigned int burst;     /**< packets */
	unsigned int queues;    /**< queue pairs a port */
	unsigned int ring_size; /**< descriptors a ring */
	bool packed;
	bool in_order;
	bool mergeable;
	bool vectorized;
	bool no_huge;
	bool verbose;
};

/**
 * Read the command line. A wrong one ends the process here, with one line that names what was
 * wrong and EXIT_USAGE; so do --help and --version, with 0.
 */
void args_parse(int argc, char **argv, struct options *opt);

#endif /* ARGS_H */
