/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <stdlib.h>

#include "args.h"
#include "chain.h"
#include "command.h"
#include "json.h"
#include "progress.h"
#include "result.h"
#include "table.h"

int
main(int argc, char **argv)
{
	struct options opt;
	struct plan plan = { .opt = &opt };
	struct chain chain;
	struct result res;
	int status;

	args_parse(argc, argv, &opt);
	command_find_pvfwd(plan.pvfwd, sizeof(plan.pvfwd), opt.pvfwd);
	place_stages(&plan.place, opt.queues);
	memory_plan(&plan.mem, &opt);
	rundir_create(&plan.dir);
	/* EAL keeps its runtime files in there, so they go with the rest. */
	setenv("RUNTIME_DIRECTORY", plan.dir.path, 1);

	progress_plan(&plan);
	chain_run(&chain, &plan);
	rundir_remove(&plan.dir);

	result_of(&chain, &res);
	status = result_exit_status(&chain, &res);
	table_print(&chain, &res);
	table_explain(&chain, &res);
	if (opt.json != NULL && json_write(opt.json, &chain, &res) != 0) {
		warn("--json=%s", opt.json);
		status = status == EXIT_SUCCESS ? EXIT_FAILURE : status;
	}
	return status;
}
