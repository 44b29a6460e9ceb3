/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "eal.h"
#include "heldlog.h"
#include "pvfwd.h"

#define VDEV "--vdev"

int
pvfwd_eal_port(const char *devargs, unsigned short *port)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	size_t len = strcspn(devargs, ",");

	if (len >= sizeof(name))
		return -1;
	memcpy(name, devargs, len);
	name[len] = '\0';
	return rte_eth_dev_get_port_by_name(name, port) == 0 ? 0 : -1;
}

/* The value of an option given as "OPTION VALUE" or "OPTION=VALUE" at argv[i], or NULL. */
static const char *
option_value(char **argv, int i, const char *option)
{
	size_t len = strlen(option);

	if (strncmp(argv[i], option, len) != 0)
		return NULL;
	if (argv[i][len] == '=')
		return &argv[i][len + 1];
	return argv[i][len] == '\0' ? argv[i + 1] : NULL;
}

/* EAL goes on without a device that its driver refused. */
static int
check_vdevs(int argc, char **argv)
{
	const char *dev, *reason;
	unsigned short port;
	int i;

	for (i = 1; i < argc; i++) {
		dev = option_value(argv, i, VDEV);
		if (dev == NULL || pvfwd_eal_port(dev, &port) == 0)
			continue;
		reason = pvfwd_log_reason();
		pvfwd_error(VDEV " %s: %s", dev, reason != NULL ? reason : "no port was created");
		pvfwd_log_drop();
		return -1;
	}
	return 0;
}

/*
 * EAL moves the words of its vector about, so it gets one of its own. Unless asked otherwise, only
 * what needs attention is logged; that telemetry has no legacy socket does not.
 */
static char **
eal_vector(int *argc, char **argv, bool *quiet)
{
	/* telemetry registers late, and then the first pattern that fits decides */
	static char telemetry[] = "--log-level=lib.telemetry:error";
	static char others[] = "--log-level=lib.*:warning";
	char **vector = calloc(*argc + 3, sizeof(*vector));
	bool log_level = false;
	int i, n = 0;

	if (vector == NULL)
		return NULL;
	for (i = 1; i < *argc; i++)
		log_level |= strncmp(argv[i], "--log-level", strlen("--log-level")) == 0;
	vector[n++] = argv[0];
	*quiet = !log_level;
	if (*quiet) {
		vector[n++] = telemetry;
		vector[n++] = others;
	}
	memcpy(&vector[n], &argv[1], (*argc - 1) * sizeof(*vector));
	*argc += n - 1;
	return vector;
}

int
pvfwd_eal_start(int argc, char **argv)
{
	int nb_words = argc, used;
	bool quiet = false;
	char **vector = eal_vector(&nb_words, argv, &quiet);
	int ret = -1;

	if (vector == NULL) {
		pvfwd_error("out of memory");
		return -1;
	}
	if (quiet)
		pvfwd_log_hold();
	used = rte_eal_init(nb_words, vector);
	if (used >= 0)
		ret = check_vdevs(argc, argv);
	pvfwd_log_release();
	if (used < 0) {
		pvfwd_error("EAL did not start: %s (%s)", rte_strerror(rte_errno),
				rte_errno == EACCES ? "without hugepages, give --no-huge"
						    : "the reason is above");
	} else if (ret == 0 && used < nb_words - 1) {
		pvfwd_error("stray word '%s' before --", vector[used + 1]);
		ret = -1;
	}
	if (used >= 0 && ret < 0)
		rte_eal_cleanup();
	free(vector);
	return ret;
}
