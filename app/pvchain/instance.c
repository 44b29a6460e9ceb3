/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/string.h>

#include "instance.h"

void
instance_init(struct instance *inst, const char *name, bool echo)
{
	*inst = (struct instance){ .name = name, .echo = echo, .reports.fd = -1, .errors.fd = -1 };
}

static void __attribute__((noreturn))
child(const struct instance *inst, char *const argv[], pid_t parent, int report, int errors)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* The parent may have gone before the first call took effect. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	dup2(null, STDIN_FILENO);
	dup2(inst->echo ? errors : null, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	/* dup2() onto itself would leave close-on-exec set. */
	if (report == INSTANCE_REPORT_FD)
		fcntl(report, F_SETFD, 0);
	else
		dup2(report, INSTANCE_REPORT_FD);

	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void
line_pipe_open(struct line_pipe *lines, int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	lines->fd = fd;
	lines->len = 0;
}

int
instance_start(struct instance *inst, char *const argv[])
{
	pid_t parent = getpid();
	int report[2], errors[2];

	if (pipe2(report, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(errors, O_CLOEXEC) != 0) {
		close(report[0]);
		close(report[1]);
		return -1;
	}
	fflush(NULL);
	inst->pid = fork();
	if (inst->pid == 0)
		child(inst, argv, parent, report[1], errors[1]);

	close(report[1]);
	close(errors[1]);
	line_pipe_open(&inst->reports, report[0]);
	line_pipe_open(&inst->errors, errors[0]);
	inst->running = inst->pid > 0;
	return inst->running ? 0 : -1;
}

/* Take a line out of the buffer: up to its end, or all there is when no more can come. */
static bool
line_take(struct line_pipe *lines, char *line)
{
	char *end = memchr(lines->buf, '\n', lines->len);
	size_t len = end != NULL ? (size_t)(end - lines->buf) : lines->len;
	bool full = lines->len == sizeof(lines->buf) - 1 || lines->fd < 0;

	if (lines->len == 0 || (end == NULL && !full))
		return false;
	memcpy(line, lines->buf, len);
	line[len] = '\0';
	lines->len -= end != NULL ? len + 1 : len;
	memmove(lines->buf, lines->buf + (end != NULL ? len + 1 : len), lines->len);
	return true;
}

/* The next line that the pipe holds. */
static bool
line_read(struct line_pipe *lines, char *line)
{
	ssize_t n;

	while (!line_take(lines, line)) {
		if (lines->fd < 0)
			return false;
		n = read(lines->fd, lines->buf + lines->len, sizeof(lines->buf) - 1 - lines->len);
		if (n < 0)
			return false;
		if (n == 0) {
			close(lines->fd);
			lines->fd = -1;
		}
		lines->len += n;
	}
	return true;
}

static enum instance_news
take_report(struct instance *inst, const char *line)
{
	struct report before = inst->last;

	if (report_parse(line, &inst->last) != 0)
		return NEWS_INVALID;
	if (inst->last.event == REPORT_DONE)
		inst->sent_all = true;
	if (before.event == REPORT_NONE || inst->last.rx_packets != before.rx_packets ||
			inst->last.tx_packets != before.tx_packets)
		return NEWS_MOVED;
	return NEWS_NONE;
}

enum instance_news
instance_read(struct instance *inst)
{
	enum instance_news news = NEWS_NONE, one;
	char line[INSTANCE_LINE];

	while (line_read(&inst->errors, line)) {
		if (inst->echo)
			fprintf(stderr, "[%s] %s\n", inst->name, line);
		strlcpy(inst->tail[inst->nb_errors++ % INSTANCE_TAIL], line, INSTANCE_LINE);
	}
	while (line_read(&inst->reports, line)) {
		one = take_report(inst, line);
		if (one > news)
			news = one;
	}
	return news;
}

void
instance_stop(struct instance *inst, int signo)
{
	inst->stopping = true;
	if (inst->running)
		kill(inst->pid, signo);
}

bool
instance_reap(struct instance *inst)
{
	if (!inst->running || waitpid(inst->pid, &inst->status, WNOHANG) != inst->pid)
		return false;
	inst->running = false;
	return true;
}
