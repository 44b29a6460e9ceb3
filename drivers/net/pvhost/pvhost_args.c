/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include <rte_kvargs.h>

#include "pvhost.h"

#define ARG_IFACE "iface"
#define ARG_QUEUES "queues"
#define ARG_CLIENT "client"
#define ARG_PACKED "packed"

static int
parse_number(const char *key, const char *value, long long min, long long max, long long *number)
{
	const char *err;

	*number = strtonum(value == NULL ? "" : value, min, max, &err);
	if (err == NULL)
		return 0;
	PVHOST_LOG(ERR, "%s=%s is %s: want %lld to %lld", key, value == NULL ? "" : value, err, min,
			max);
	return -EINVAL;
}

static int
parse_queues(const char *key, const char *value, void *opaque)
{
	struct pvhost_args *args = opaque;
	long long number;

	if (parse_number(key, value, 1, PVHOST_MAX_PAIRS, &number) < 0)
		return -EINVAL;
	args->pairs = number;
	return 0;
}

static int
parse_client(const char *key, const char *value, void *opaque)
{
	struct pvhost_args *args = opaque;
	long long number;

	if (parse_number(key, value, 0, 1, &number) < 0)
		return -EINVAL;
	args->client = number != 0;
	return 0;
}

static int
parse_packed(const char *key, const char *value, void *opaque)
{
	struct pvhost_args *args = opaque;
	long long number;

	if (parse_number(key, value, 0, 1, &number) < 0)
		return -EINVAL;
	args->packed = number != 0;
	return 0;
}

static int
parse_iface(const char *key, const char *value, void *opaque)
{
	struct pvhost_args *args = opaque;

	if (value == NULL || value[0] == '\0') {
		PVHOST_LOG(ERR, "%s= wants the path of a socket", key);
		return -EINVAL;
	}
	if (strlcpy(args->iface, value, sizeof(args->iface)) >= sizeof(args->iface)) {
		PVHOST_LOG(ERR, "%s=%s is longer than the %zu bytes of a socket's path", key, value,
				sizeof(args->iface) - 1);
		return -ENAMETOOLONG;
	}
	return 0;
}

static const struct {
	const char *key;
	arg_handler_t parse;
} handlers[] = {
	{ ARG_IFACE, parse_iface },
	{ ARG_QUEUES, parse_queues },
	{ ARG_CLIENT, parse_client },
	{ ARG_PACKED, parse_packed },
};

/* librte_kvargs only says that there is an unknown key: name it. */
static int
check_keys(const struct rte_kvargs *kvlist)
{
	for (unsigned int i = 0; i < kvlist->count; i++) {
		unsigned int known = 0;

		while (known < RTE_DIM(handlers) &&
				strcmp(handlers[known].key, kvlist->pairs[i].key) != 0)
			known++;
		if (known == RTE_DIM(handlers)) {
			PVHOST_LOG(ERR, "unknown argument %s", kvlist->pairs[i].key);
			return -EINVAL;
		}
	}
	return 0;
}

static int
parse_all(struct pvhost_args *args, const struct rte_kvargs *kvlist)
{
	for (unsigned int i = 0; i < RTE_DIM(handlers); i++) {
		const char *key = handlers[i].key;

		if (rte_kvargs_count(kvlist, key) > 1) {
			PVHOST_LOG(ERR, "%s= is given more than once", key);
			return -EINVAL;
		}
		if (rte_kvargs_process(kvlist, key, handlers[i].parse, args) < 0)
			return -EINVAL;
	}
	if (args->iface[0] == '\0') {
		PVHOST_LOG(ERR, ARG_IFACE "= is missing: the path of the vhost-user socket");
		return -EINVAL;
	}
	return 0;
}

int
pvhost_args_parse(struct pvhost_args *args, const char *params)
{
	struct rte_kvargs *kvlist = rte_kvargs_parse(params, NULL);
	int ret;

	*args = (struct pvhost_args){ .packed = true, .pairs = 1 };
	if (kvlist == NULL) {
		PVHOST_LOG(ERR, "malformed arguments \"%s\"", params);
		return -EINVAL;
	}
	ret = check_keys(kvlist);
	if (ret == 0)
		ret = parse_all(args, kvlist);
	rte_kvargs_free(kvlist);
	return ret;
}
