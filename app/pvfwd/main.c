/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "control.h"
#include "eal.h"
#include "loop.h"
#include "options.h"
#include "pvfwd.h"
#include "report.h"
#include "setup.h"
#include "signals.h"
#include "stats.h"

struct pvfwd pvfwd;

void
pvfwd_error(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	flockfile(stderr);
	fputs("pvfwd: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* --help and --version need neither EAL nor a correct rest of the line. */
static bool
told_about_itself(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			pvfwd_options_help();
			return true;
		}
		if (strcmp(argv[i], "--version") == 0) {
			printf("pvfwd %s (%s)\n", PVHOST_VERSION, rte_version());
			return true;
		}
	}
	return false;
}

static int
check_report_fd(void)
{
	int fd = pvfwd.cfg.report_fd;
	int flags = fd < 0 ? O_WRONLY : fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
		pvfwd_error("--report-fd=%d: %s", fd,
				flags < 0 ? strerror(errno) : "not open for writing");
		return -1;
	}
	return 0;
}

static int
add_port(uint16_t port)
{
	pvfwd.ports[pvfwd.nb_ports++] = port;
	return pvfwd_port_start(port);
}

/* Plug in the devices that need the first ones running, such as a driver to our own backend. */
static int
attach_ports(void)
{
	uint16_t i, port;

	for (i = 0; i < pvfwd.cfg.nb_attach; i++) {
		const char *dev = pvfwd.cfg.attach[i];
		int ret = rte_dev_probe(dev);

		if (ret < 0 || pvfwd_eal_port(dev, &port) < 0) {
			pvfwd_error("--attach=%s: %s", dev,
					ret < 0 ? rte_strerror(-ret) : "no port was created");
			return -1;
		}
		if (add_port(port) < 0)
			return -1;
	}
	return 0;
}

static int
start_ports(void)
{
	uint16_t port, i, nb_first;

	RTE_ETH_FOREACH_DEV (port)
		pvfwd.ports[pvfwd.nb_ports++] = port;
	if (pvfwd.nb_ports + pvfwd.cfg.nb_attach == 0) {
		pvfwd_error("no ports: give EAL a device (--vdev)");
		return -1;
	}
	if (pvfwd_pool_create() < 0)
		return -1;
	nb_first = pvfwd.nb_ports;
	pvfwd.nb_ports = 0;
	for (i = 0; i < nb_first; i++)
		if (add_port(pvfwd.ports[i]) < 0)
			return -1;
	return attach_ports();
}

/* Forward until stopped. The main lcore either forwards, too, or is the control thread. */
static int
forward(void)
{
	struct pvfwd_lcore *last = &pvfwd.lcores[pvfwd.nb_lcores - 1];
	bool main_forwards = last->id == rte_get_main_lcore();
	pthread_t control;
	uint16_t i;
	int ret;

	for (i = 0; i < pvfwd.nb_lcores - main_forwards; i++)
		rte_eal_remote_launch(pvfwd_loop, &pvfwd.lcores[i], pvfwd.lcores[i].id);
	if (main_forwards) {
		ret = rte_ctrl_thread_create(&control, "pvfwd-control", NULL, pvfwd_control, NULL);
		if (ret == 0) {
			pvfwd_loop(last);
			pthread_join(control, NULL);
		} else {
			pvfwd_error("cannot start the control thread: %s", rte_strerror(-ret));
			pvfwd_stop();
		}
	} else {
		pvfwd_control(NULL);
		ret = 0;
	}
	rte_eal_mp_wait_lcore();
	return ret == 0 ? 0 : PVFWD_EXIT_RUNTIME;
}

static int
run(void)
{
	static struct pvfwd_totals totals;
	int ret;

	if (start_ports() < 0 || pvfwd_streams_create() < 0)
		return PVFWD_EXIT_USAGE;
	printf("pvfwd: %s, ports: %u, lcores: %u%s\n", pvfwd.cfg.engine->name, pvfwd.nb_ports,
			pvfwd.nb_lcores,
			rte_eal_has_hugepages() ? "" : "; no hugepages: ordinary memory is used");
	ret = forward();
	pvfwd_stats_gather(&totals);
	pvfwd_stats_print_table(&totals);
	pvfwd_report("final", &totals);
	return ret;
}

int
main(int argc, char **argv)
{
	int nb_eal, ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (told_about_itself(argc, argv))
		return 0;
	for (nb_eal = 1; nb_eal < argc && strcmp(argv[nb_eal], "--") != 0; nb_eal++)
		;
	/* the "--" stands for argv[0] */
	if (pvfwd_options_parse(&pvfwd.cfg, argc - nb_eal, &argv[nb_eal]) < 0 ||
			check_report_fd() < 0)
		return PVFWD_EXIT_USAGE;
	pvfwd_pattern_init();
	pvfwd_signals_init();
	if (pvfwd_eal_start(nb_eal, argv) < 0)
		return PVFWD_EXIT_USAGE;
	ret = run();
	/* the attached ports first: they may be the peers of the others */
	while (pvfwd.nb_ports > 0)
		pvfwd_port_close(pvfwd.ports[--pvfwd.nb_ports]);
	pvfwd_streams_destroy();
	rte_eal_cleanup();
	return ret;
}
