/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>

#include "pvu_owner.h"

static bool
any_running(const struct owner *o)
{
	unsigned int i;

	for (i = 0; i < PVU_MAX_RINGS; i++)
		if (o->rings[i].running)
			return true;
	return false;
}

static void
on_features(void *arg, uint64_t features)
{
	struct owner *o = arg;

	CU_ASSERT_FALSE(any_running(o));
	o->features = features;
	o->feature_calls++;
}

static void
on_memory(void *arg, const struct pvu_region *regions, unsigned int count)
{
	struct owner *o = arg;

	CU_ASSERT_FALSE(any_running(o));
	o->regions = regions;
	o->nregions = count;
}

static int
on_start(void *arg, unsigned int index, const struct pvu_ring *ring)
{
	struct owner *o = arg;

	CU_ASSERT_FALSE(o->rings[index].running);
	CU_ASSERT_NOT_EQUAL(ring->size, 0);
	if (o->rings[index].start_result < 0)
		return o->rings[index].start_result;
	o->rings[index].running = true;
	o->rings[index].starts++;
	o->rings[index].ring = *ring;
	o->rings[index].base = ring->base;
	return 0;
}

static int
on_stop(void *arg, unsigned int index, uint16_t *base)
{
	struct owner *o = arg;

	CU_ASSERT_TRUE(o->rings[index].running);
	o->rings[index].running = false;
	o->rings[index].stops++;
	*base = o->rings[index].base;
	return o->rings[index].stop_result;
}

static void
on_changed(void *arg, const struct pvu_info *info)
{
	struct owner *o = arg;

	o->info = *info;
	o->changes++;
}

static void
on_log(void *arg, enum pvu_log_level level, const char *line)
{
	struct owner *o = arg;

	CU_ASSERT_PTR_NULL(strchr(line, '\n'));
	o->lines++;
	if (level <= PVU_LOG_WARNING)
		o->warnings++;
	strlcpy(o->line, line, sizeof(o->line));
	if (o->verbose)
		printf("\n    %s", line);
}

const struct pvu_ops owner_ops = {
	.set_features = on_features,
	.set_memory = on_memory,
	.ring_start = on_start,
	.ring_stop = on_stop,
	.changed = on_changed,
	.log = on_log,
};

static struct pvu_params
params(struct owner *o, const char *path, bool client)
{
	static const uint8_t config[12] = { 2, 0, 0, 0, 0, 1, 1, 0, 4, 0, 0xdc, 5 };

	memset(o, 0, sizeof(*o));
	o->verbose = getenv("PVU_TEST_VERBOSE") != NULL;
	o->loop = pvu_loop_create();
	return (struct pvu_params){
		.path = path,
		.client = client,
		.nrings = NR_RINGS,
		.features = ALL_FEATURES,
		.config = config,
		.config_len = sizeof(config),
		.ops = &owner_ops,
		.owner = o,
	};
}

void
owner_open(struct owner *o, struct peer *peer)
{
	struct pvu_params p = params(o, "test", false);

	*peer = (struct peer){ .pump = owner_pump, .arg = o };
	if (pvu_dev_create_fd(o->loop, &p, peer_pair(peer), &o->dev) < 0)
		abort();
}

int
owner_listen(struct owner *o, const char *path, bool client)
{
	struct pvu_params p = params(o, path, client);

	return pvu_dev_create(o->loop, &p, &o->dev);
}

void
owner_close(struct owner *o)
{
	if (o->dev != NULL)
		pvu_dev_destroy(o->dev);
	CU_ASSERT_FALSE(any_running(o));
	CU_ASSERT_EQUAL(o->nregions, 0);
	pvu_loop_destroy(o->loop);
	o->dev = NULL;
	o->loop = NULL;
}

void
owner_pump(void *arg)
{
	struct owner *o = arg;

	while (o->loop != NULL && pvu_loop_poll(o->loop, 0) > 0)
		;
}

void
owner_ready(struct owner *o, struct peer *peer, uint64_t features, size_t size)
{
	owner_open(o, peer);
	CU_ASSERT_EQUAL(peer_negotiate(peer, features, 0), 0);
	CU_ASSERT_EQUAL(peer_share(peer, size), 0);
}

void
owner_done(struct owner *o, struct peer *peer)
{
	owner_close(o);
	peer->pump = NULL;
	peer_close(peer);
	peer_mem_free(&peer->mem);
}

static char folder[] = "/tmp/pvu-test-XXXXXX";

static void
remove_folder(void)
{
	rmdir(folder);
}

const char *
test_path(const char *name)
{
	static char path[108];
	static bool made;

	if (!made) {
		if (mkdtemp(folder) == NULL)
			abort();
		atexit(remove_folder);
		made = true;
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

int
run_tests(const char *suite, const struct test_case *cases, unsigned int count)
{
	CU_pSuite s;
	unsigned int i, failures;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	s = CU_add_suite(suite, NULL, NULL);
	for (i = 0; s != NULL && i < count; i++)
		if (CU_add_test(s, cases[i].name, cases[i].run) == NULL)
			return 2;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures() + (CU_get_number_of_tests_run() != count);
	CU_cleanup_registry();
	return failures != 0;
}

void
owner_running(struct owner *o, struct peer *peer, struct peer_ring *ring, uint64_t features,
		size_t size)
{
	owner_ready(o, peer, features, size);
	peer_ring_place(ring, 0, 64, features & F_PACKED, 0x1000);
	CU_ASSERT_EQUAL(peer_ring_start(peer, ring), 0);
	CU_ASSERT_TRUE(o->rings[0].running);
}

void
owner_stopped(struct owner *o, struct peer *peer, struct peer_ring *ring)
{
	peer_ring_free(ring);
	owner_done(o, peer);
}
