/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef EXPERIMENT_H
#define EXPERIMENT_H

/**
 * @file
 * What an experiment is: variants of one thing, each of which can be run and timed.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
	EXPERIMENT_EXTRAS = 4,    /* counters beside the time */
	EXPERIMENT_VARIANTS = 32, /* with all bursts */
};

/** How a variant is to be run. */
struct params {
	uint64_t count;      /**< buffers a run */
	uint32_t ring;       /**< slots */
	uint32_t burst;      /**< buffers at a time */
	unsigned int repeat; /**< rounds */
	unsigned int cpu[2]; /**< of the driver and of the device; alike when there is only one */
};

/** What one run gave. */
struct sample {
	uint64_t ns;
	uint64_t ticks;                  /**< of the processor's own counter, see clock.h */
	uint64_t done;                   /**< what the time is divided by; 0: params.count */
	uint64_t wrong;                  /**< buffers that did not come as they were sent */
	double extra[EXPERIMENT_EXTRAS]; /**< NAN: this machine does not tell */
};

struct variant {
	const char *name;
	const char *group; /**< ratios are to the first of its group */
	bool unsafe;       /**< a driver that virtio allows could be misled by it */
	void (*run)(const struct params *params, struct sample *sample);
};

struct experiment {
	const char *name;
	const char *title;      /**< what it compares */
	const char *unit;       /**< of a run's time divided by its count */
	const char *published;  /**< what others found */
	uint64_t count;         /**< default of params.count */
	bool split;             /**< has a split ring: sizes are powers of two */
	bool single;            /**< has one thread */
	const uint32_t *bursts; /**< run all variants with each of these, 0 last; NULL: params.burst
				 */
	const char *extras[EXPERIMENT_EXTRAS]; /**< names; NULL: no more */
	const struct variant *variants;        /**< the last one has no name */
};

/** All experiments, up to a NULL. */
extern const struct experiment *const experiments[];

/** @return the experiment of that name, or NULL */
const struct experiment *experiment_find(const char *name);

#endif /* EXPERIMENT_H */
