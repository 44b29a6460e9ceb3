/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include "experiments.h"
#include "notify.h"
#include "packed.h"
#include "split.h"

/* The engine's verbs, which know no void *, as a table of functions that do. */
#define OPS(format, publish_all)                                                                   \
	static bool format##_add(void *ring, uint64_t seq)                                         \
	{                                                                                          \
		bool ok = format##_put(ring, seq);                                                 \
                                                                                                   \
		publish_all(ring);                                                                 \
		return ok;                                                                         \
	}                                                                                          \
                                                                                                   \
	static bool format##_take_back(void *ring, uint64_t *seq)                                  \
	{                                                                                          \
		return format##_used(ring, seq);                                                   \
	}                                                                                          \
                                                                                                   \
	static bool format##_must_kick(void *ring)                                                 \
	{                                                                                          \
		return pvq_##format##_must_kick(&((struct format *)ring)->drv);                    \
	}                                                                                          \
                                                                                                   \
	static void format##_disable_cb(void *ring)                                                \
	{                                                                                          \
		pvq_##format##_disable_cb(&((struct format *)ring)->drv);                          \
	}                                                                                          \
                                                                                                   \
	static bool format##_enable_cb(void *ring)                                                 \
	{                                                                                          \
		return pvq_##format##_enable_cb(&((struct format *)ring)->drv);                    \
	}                                                                                          \
                                                                                                   \
	static bool format##_enable_cb_delayed(void *ring)                                         \
	{                                                                                          \
		return pvq_##format##_enable_cb_delayed(&((struct format *)ring)->drv);            \
	}                                                                                          \
                                                                                                   \
	static unsigned int format##_serve_one(                                                    \
			void *ring, uint64_t seq, unsigned int max, uint64_t *wrong)               \
	{                                                                                          \
		return format##_serve(ring, seq, max, wrong);                                      \
	}                                                                                          \
                                                                                                   \
	static bool format##_must_call(void *ring)                                                 \
	{                                                                                          \
		return pvq_##format##_must_call(&((struct format *)ring)->dev);                    \
	}                                                                                          \
                                                                                                   \
	static void format##_disable_kick(void *ring)                                              \
	{                                                                                          \
		pvq_##format##_disable_kick(&((struct format *)ring)->dev, NULL);                  \
	}                                                                                          \
                                                                                                   \
	static bool format##_enable_kick(void *ring)                                               \
	{                                                                                          \
		return pvq_##format##_enable_kick(&((struct format *)ring)->dev, NULL);            \
	}                                                                                          \
                                                                                                   \
	static const struct notify_ops format##_ops = {                                            \
		.add = format##_add,                                                               \
		.used = format##_take_back,                                                        \
		.must_kick = format##_must_kick,                                                   \
		.disable_cb = format##_disable_cb,                                                 \
		.enable_cb = format##_enable_cb,                                                   \
		.enable_cb_delayed = format##_enable_cb_delayed,                                   \
		.serve = format##_serve_one,                                                       \
		.must_call = format##_must_call,                                                   \
		.disable_kick = format##_disable_kick,                                             \
		.enable_kick = format##_enable_kick,                                               \
	};

OPS(split, split_publish)
OPS(packed, packed_publish)

#define VARIANT(format, name, event_idx, delayed)                                                  \
	static void run_##format##_##name(const struct params *params, struct sample *sample)      \
	{                                                                                          \
		struct format *ring = format##_new(params, event_idx);                             \
                                                                                                   \
		notify_run(params, &format##_ops, ring, delayed, sample);                          \
		format##_free(ring);                                                               \
	}

VARIANT(split, off, false, false)
VARIANT(split, delayed, false, true)
VARIANT(split, event, true, false)
VARIANT(split, both, true, true)
VARIANT(packed, off, false, false)
VARIANT(packed, delayed, false, true)
VARIANT(packed, event, true, false)
VARIANT(packed, both, true, true)

static const struct variant variants[] = {
	{ "event index off, calls at once", "split", false, run_split_off },
	{ "event index off, calls delayed", "split", false, run_split_delayed },
	{ "event index on, calls at once", "split", false, run_split_event },
	{ "event index on, calls delayed", "split", false, run_split_both },
	{ "event index off, calls at once", "packed", false, run_packed_off },
	{ "event index off, calls delayed", "packed", false, run_packed_delayed },
	{ "event index on, calls at once", "packed", false, run_packed_event },
	{ "event index on, calls delayed", "packed", false, run_packed_both },
	{ NULL, NULL, false, NULL },
};

const struct experiment exp_event_idx = {
	.name = "event-idx",
	.title = "eventfds between two threads: event index off and on, calls delayed or not",
	.unit = "ns per buffer",
	.published = "0.649 s without the event index, 0.169 s with it;\n"
		     "spurious wake-ups 0x11 and 0x7",
	.count = 200000,
	.split = true,
	.extras = { "kicks", "calls", "spurious calls", "spurious kicks" },
	.variants = variants,
};
