/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>

#include "command.h"
#include "instance.h"

static void __attribute__((format(printf, 2, 3))) add(struct command *cmd, const char *format, ...)
{
	va_list ap;

	if (cmd->nb_args == COMMAND_MAX_ARGS)
		errx(EXIT_FAILURE, "a command line grew too long");
	va_start(ap, format);
	if (vasprintf(&cmd->argv[cmd->nb_args], format, ap) < 0)
		err(EXIT_FAILURE, "vasprintf");
	va_end(ap);
	cmd->argv[++cmd->nb_args] = NULL;
}

void
command_find_pvfwd(char *path, size_t size, const char *users)
{
	/* Installed, then in the build folder. */
	static const char *const places[] = { "pvfwd", "../pvfwd/pvfwd" };
	char self[2048];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (users != NULL) {
		/* execvp() would look for a name without a slash in $PATH. */
		snprintf(path, size, "%s%s", strchr(users, '/') != NULL ? "" : "./", users);
		return;
	}
	self[len < 0 ? 0 : len] = '\0';
	slash = strrchr(self, '/');
	for (unsigned int i = 0; slash != NULL && i < 2; i++) {
		snprintf(path, size, "%.*s/%s", (int)(slash - self), self, places[i]);
		if (access(path, X_OK) == 0)
			return;
	}
	strlcpy(path, "pvfwd", size);
}

/* The main lcore only waits and reports: it shares the first worker's CPU. */
static void
add_lcores(struct command *cmd, const struct placement *place, enum stage stage)
{
	char lcores[PLACE_MAX_WORKERS * 16];
	const unsigned int *cpu = place->cpu[stage];
	int len = snprintf(lcores, sizeof(lcores), "0@%u", cpu[0]);

	for (unsigned int i = 0; i < place->nb_workers; i++)
		len += snprintf(lcores + len, sizeof(lcores) - len, ",%u@%u", i + 1, cpu[i]);
	add(cmd, "--lcores");
	add(cmd, "%s", lcores);
}

static void
add_memory(struct command *cmd, const struct memory *mem)
{
	add(cmd, "-m");
	add(cmd, "%u", mem->megabytes);
	if (mem->huge) {
		/* memfd: no file to leave behind; one for all, as virtio-user sends at most 8. */
		add(cmd, "--in-memory");
		add(cmd, "--single-file-segments");
	} else {
		add(cmd, "--no-huge");
	}
}

static void
add_driver_ports(struct command *cmd, const struct plan *plan, unsigned int n)
{
	const struct options *opt = plan->opt;

	add(cmd, "--vdev");
	add(cmd,
			"net_virtio_user%u,path=%s/s%u.sock,queues=%u,queue_size=%u,packed_vq=%d,"
			"in_order=%d,mrg_rxbuf=%d,vectorized=%d",
			n, plan->dir.path, n, opt->queues, opt->ring_size, opt->packed,
			opt->in_order, opt->mergeable, opt->vectorized);
	/* DPDK stays below 512 bits unless told otherwise. */
	if (opt->vectorized)
		add(cmd, "--force-max-simd-bitwidth=512");
}

static void
add_backend_ports(struct command *cmd, const struct plan *plan)
{
	for (unsigned int n = 0; n < 2; n++) {
		add(cmd, "--vdev");
		add(cmd, "net_%s%u,iface=%s/s%u.sock,queues=%u", plan->opt->backend, n,
				plan->dir.path, n, plan->opt->queues);
	}
	if (plan->opt->driver != NULL) {
		add(cmd, "-d");
		add(cmd, "%s", plan->opt->driver);
	}
}

static void
add_eal(struct command *cmd, const struct plan *plan, enum stage stage)
{
	add_lcores(cmd, &plan->place, stage);
	add_memory(cmd, &plan->mem);
	add(cmd, "--no-pci");
	add(cmd, "--no-telemetry");
	add(cmd, "--file-prefix=%s", stage_name(stage));
	if (stage == MIDDLE)
		add_backend_ports(cmd, plan);
	else
		add_driver_ports(cmd, plan, stage == RECEIVER);
}

/* Frames that outgrow an mbuf are chains of full ones. */
static void
add_segments(struct command *cmd, unsigned int size, unsigned int room)
{
	char list[128];
	int len = 0;

	for (; size > room; size -= room)
		len += snprintf(list + len, sizeof(list) - len, "%u,", room);
	snprintf(list + len, sizeof(list) - len, "%u", size);
	add(cmd, "--txpkts=%s", list);
}

static void
add_sender(struct command *cmd, const struct options *opt)
{
	enum { SEGMENT = 2048 };

	add_segments(cmd, opt->size, SEGMENT);
	if (opt->packets != 0)
		add(cmd, "--packets=%llu", (unsigned long long)opt->packets);
	else
		add(cmd, "--duration=%u", opt->duration);
}

void
command_build(struct command *cmd, const struct plan *plan, enum stage stage)
{
	enum { ETHER_MAX = 1518 };
	static const char *const modes[] = { "txonly", "io", "rxonly" };
	const struct options *opt = plan->opt;

	cmd->nb_args = 0;
	add(cmd, "%s", plan->pvfwd);
	add_eal(cmd, plan, stage);
	add(cmd, "--");
	add(cmd, "--forward-mode=%s", modes[stage]);
	add(cmd, "--report-fd=%d", INSTANCE_REPORT_FD);
	add(cmd, "--burst=%u", opt->burst);
	add(cmd, "--nb-cores=%u", plan->place.nb_workers);
	add(cmd, "--rxq=%u", opt->queues);
	add(cmd, "--txq=%u", opt->queues);
	add(cmd, "--rxd=%u", opt->ring_size);
	add(cmd, "--txd=%u", opt->ring_size);
	add(cmd, "--max-pkt-len=%u", opt->size > ETHER_MAX ? opt->size : ETHER_MAX);
	add(cmd, "--mbuf-size=%u", plan->mem.mbuf_size[stage]);
	if (stage == SENDER)
		add_sender(cmd, opt);
}

void
command_free(struct command *cmd)
{
	while (cmd->nb_args > 0)
		free(cmd->argv[--cmd->nb_args]);
}
