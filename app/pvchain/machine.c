/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <bsd/string.h>

#include "machine.h"

/* x86 names the model; Arm gives numbers of implementer and part. */
static void
cpu_model(char *model, size_t size)
{
	char line[256], implementer[32] = "", part[32] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");

	model[0] = '\0';
	if (f == NULL)
		return;
	while (model[0] == '\0' && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL)
			strlcpy(model, strchr(line, ':') + 2, size);
		sscanf(line, "CPU implementer : %31s", implementer);
		if (sscanf(line, "CPU part : %31s", part) == 1)
			snprintf(model, size, "implementer %s part %s", implementer, part);
	}
	fclose(f);
}

void
machine_describe(struct machine *machine)
{
	struct utsname uts;

	*machine = (struct machine){ .nb_online = (unsigned int)get_nprocs() };
	if (uname(&uts) == 0) {
		strlcpy(machine->arch, uts.machine, sizeof(machine->arch));
		strlcpy(machine->kernel, uts.release, sizeof(machine->kernel));
	}
	cpu_model(machine->cpu, sizeof(machine->cpu));
}
