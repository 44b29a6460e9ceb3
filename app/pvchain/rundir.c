/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "rundir.h"

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* An instance that is just dying may still add a file: try again for a while. */
static void
sweep(const char *path)
{
	enum { TRIES = 100, PAUSE_US = 20 * 1000 };

	for (int i = 0; i < TRIES; i++) {
		nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
		if (access(path, F_OK) != 0)
			return;
		usleep(PAUSE_US);
	}
	warnx("%s: cannot be removed", path);
}

/* Outlives the run, even one that is killed, and its terminal's signals. */
static void __attribute__((noreturn)) sweeper(const char *path, int run_is_over)
{
	char byte;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_NAME, "pvchain-sweeper");
	while (read(run_is_over, &byte, 1) < 0 && errno == EINTR)
		;
	sweep(path);
	_exit(0);
}

void
rundir_create(struct rundir *dir)
{
	const char *tmp = getenv("TMPDIR");
	int ends[2];
	int len;

	if (tmp == NULL || tmp[0] == '\0')
		tmp = "/tmp";
	len = snprintf(dir->path, sizeof(dir->path), "%s/pvchain.XXXXXX", tmp);
	if (len >= (int)sizeof(dir->path))
		errx(EXIT_USAGE, "TMPDIR=%s: too long for a socket's path", tmp);
	if (strpbrk(tmp, ",[]\"") != NULL)
		errx(EXIT_USAGE, "TMPDIR=%s: a device argument cannot hold this path", tmp);
	if (mkdtemp(dir->path) == NULL)
		err(EXIT_FAILURE, "TMPDIR=%s: no folder can be made there", tmp);

	if (pipe2(ends, O_CLOEXEC) != 0 || (dir->sweeper = fork()) < 0) {
		rmdir(dir->path);
		err(EXIT_FAILURE, "cannot start a process");
	}
	if (dir->sweeper == 0) {
		close(ends[1]);
		sweeper(dir->path, ends[0]);
	}
	close(ends[0]);
	dir->alive = ends[1];
}

void
rundir_remove(struct rundir *dir)
{
	close(dir->alive);
	while (waitpid(dir->sweeper, NULL, 0) < 0 && errno == EINTR)
		;
}

bool
rundir_listens(const struct rundir *dir, const char *name)
{
	enum { ACCEPTS = 1 << 16 }; /* the kernel's __SO_ACCEPTCON */
	char line[512], wanted[128];
	bool found = false;
	unsigned int flags;
	int path;
	FILE *f = fopen("/proc/net/unix", "r");

	if (f == NULL)
		return false;
	snprintf(wanted, sizeof(wanted), "%s/%s\n", dir->path, name);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &path) == 1 &&
			(flags & ACCEPTS) != 0 && strcmp(line + path, wanted) == 0;
	fclose(f);
	return found;
}
