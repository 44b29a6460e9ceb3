/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bsd/string.h>

#include "machine.h"
#include "topology.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* x86 names the model; Arm gives numbers of implementer and part. */
static void
cpu_model(char *model, size_t size)
{
	char line[256], implementer[32] = "", part[32] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");

	strlcpy(model, "unknown", size);
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "model name", 10) == 0 && strstr(line, ": ") != NULL) {
			strlcpy(model, strstr(line, ": ") + 2, size);
			break;
		}
		sscanf(line, "CPU implementer : %31s", implementer);
		if (sscanf(line, "CPU part : %31s", part) == 1) {
			snprintf(model, size, "implementer %s part %s", implementer, part);
			break;
		}
	}
	fclose(f);
}

void
machine_describe(struct machine *machine, const unsigned int cpus[2])
{
	struct utsname uts;

	*machine = (struct machine){
		.compiler = COMPILER,
		.page_size = sysconf(_SC_PAGESIZE),
		.nb_cpus = (unsigned int)get_nprocs(),
		.cpus = { cpus[0], cpus[1] },
		.same_core = topology_shared(TOPOLOGY_CORE, cpus[0], cpus[1]),
		.shared_l2 = topology_shared(TOPOLOGY_L2, cpus[0], cpus[1]),
		.shared_l3 = topology_shared(TOPOLOGY_L3, cpus[0], cpus[1]),
	};
	if (uname(&uts) == 0) {
		strlcpy(machine->arch, uts.machine, sizeof(machine->arch));
		strlcpy(machine->kernel, uts.release, sizeof(machine->kernel));
	}
	strlcpy(machine->flags, PVQBENCH_FLAGS, sizeof(machine->flags));
	cpu_model(machine->cpu, sizeof(machine->cpu));
}
