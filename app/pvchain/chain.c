/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "progress.h"

enum {
	START_MS = 30 * 1000, /* for an instance to be ready */
	STALL_MS = 10 * 1000, /* without a packet moved while there are some to send */
	SETTLE_MS = 2 * 1000, /* the same once all are sent: the rest will not come */
	END_MS = 5 * 1000,    /* for an instance to end when told */
	TICK_MS = 50,
};

/* What is waited for; *inst is the instance that it is about. */
typedef bool (*condition)(const struct chain *chain, const struct instance *inst);

int64_t
chain_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* The first failure is the cause; others follow from it. */
static void __attribute__((format(printf, 3, 4)))
fail(struct chain *chain, const struct instance *culprit, const char *format, ...)
{
	va_list ap;

	if (chain->failure[0] != '\0')
		return;
	va_start(ap, format);
	vsnprintf(chain->failure, sizeof(chain->failure), format, ap);
	va_end(ap);
	chain->culprit = culprit;
}

static void
instance_ended(struct chain *chain, const struct instance *inst)
{
	int signo = WIFSIGNALED(inst->status) ? WTERMSIG(inst->status) : 0;

	/* Told to end, it may be too young to catch the signal, or be killed for its slowness. */
	if (inst->stopping && (inst->status == 0 || signo == SIGTERM || signo == SIGKILL))
		return;
	if (signo != 0)
		fail(chain, inst, "the %s (pid %d) was killed by signal %d (%s)", inst->name,
				inst->pid, signo, strsignal(signo));
	else
		fail(chain, inst, "the %s (pid %d) ended with exit code %d%s", inst->name,
				inst->pid, WEXITSTATUS(inst->status),
				inst->stopping ? "" : " before its time");
}

static void
take_signals(struct chain *chain)
{
	struct signalfd_siginfo info;

	while (read(chain->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* The second one ends everything at once. */
		for (int i = 0; chain->interrupted != 0 && i < NB_STAGES; i++)
			instance_stop(&chain->inst[i], SIGKILL);
		chain->interrupted = (int)info.ssi_signo;
	}
}

static void
take_news(struct chain *chain, struct instance *inst)
{
	/* Reaped first: what an ended instance wrote is then complete. */
	bool ended = instance_reap(inst);

	switch (instance_read(inst)) {
	case NEWS_MOVED:
		chain->moved_ms = chain_now();
		break;
	case NEWS_INVALID:
		fail(chain, inst, "the %s wrote a report line that is not one", inst->name);
		break;
	case NEWS_NONE:
		break;
	}
	if (ended)
		instance_ended(chain, inst);
}

/* Take in what happens within TICK_MS. */
static void
tick(struct chain *chain)
{
	struct pollfd fds[1 + 2 * NB_STAGES] = { { .fd = chain->signals, .events = POLLIN } };

	for (int i = 0; i < NB_STAGES; i++) {
		fds[1 + 2 * i] = (struct pollfd){ chain->inst[i].reports.fd, POLLIN, 0 };
		fds[2 + 2 * i] = (struct pollfd){ chain->inst[i].errors.fd, POLLIN, 0 };
	}
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), TICK_MS) < 0 && errno != EINTR)
		err(EXIT_FAILURE, "poll");
	take_signals(chain);
	for (int i = 0; i < NB_STAGES; i++)
		take_news(chain, &chain->inst[i]);
	progress_show(chain);
}

/*
 * Wait until *met holds, for at most limit_ms after *since, which may move on meanwhile. True
 * when it holds; false otherwise, and at once when the run is cut short.
 */
static bool
wait_since(struct chain *chain, condition met, const struct instance *inst, int limit_ms,
		const int64_t *since)
{
	while (chain->ending || (chain->interrupted == 0 && chain->failure[0] == '\0')) {
		if (met(chain, inst))
			return true;
		if (chain_now() - *since > limit_ms)
			return false;
		tick(chain);
	}
	return false;
}

static bool
wait_for(struct chain *chain, condition met, const struct instance *inst, int limit_ms)
{
	int64_t start = chain_now();

	return wait_since(chain, met, inst, limit_ms, &start);
}

static bool
wait_while_moving(struct chain *chain, condition met, const struct instance *inst, int limit_ms)
{
	chain->moved_ms = chain_now();
	return wait_since(chain, met, inst, limit_ms, &chain->moved_ms);
}

static bool
listens(const struct chain *chain, const struct instance *inst)
{
	(void)inst;
	return rundir_listens(&chain->plan->dir, "s0.sock") &&
	       rundir_listens(&chain->plan->dir, "s1.sock");
}

static bool
has_started(const struct chain *chain, const struct instance *inst)
{
	(void)chain;
	return inst->last.event != REPORT_NONE;
}

static bool
has_sent_all(const struct chain *chain, const struct instance *inst)
{
	(void)chain;
	return inst->sent_all;
}

static bool
has_received_all(const struct chain *chain, const struct instance *inst)
{
	return inst->last.verify.received >= chain->inst[SENDER].last.tx_packets;
}

static bool
has_ended(const struct chain *chain, const struct instance *inst)
{
	(void)chain;
	return !inst->running;
}

/* Start an instance and wait until it is ready. */
static bool
start(struct chain *chain, enum stage stage, condition ready)
{
	struct instance *inst = &chain->inst[stage];
	struct command cmd;

	command_build(&cmd, chain->plan, stage);
	if (inst->echo)
		progress_command(inst->name, cmd.argv);
	if (instance_start(inst, cmd.argv) != 0)
		fail(chain, NULL, "the %s cannot be started: %s", inst->name, strerror(errno));
	command_free(&cmd);
	if (wait_for(chain, ready, inst, START_MS))
		return true;
	if (chain->interrupted == 0)
		fail(chain, inst, "the %s was not ready within %d s", inst->name, START_MS / 1000);
	return false;
}

static void
run(struct chain *chain)
{
	struct instance *sender = &chain->inst[SENDER];

	/* virtio-user connects when it starts, so its backend must listen by then. */
	if (!start(chain, MIDDLE, listens) || !start(chain, RECEIVER, has_started) ||
			!start(chain, SENDER, has_started))
		return;
	chain->began_ms = chain_now();
	if (!wait_while_moving(chain, has_sent_all, sender, STALL_MS)) {
		if (chain->interrupted == 0)
			fail(chain, NULL, "no packet has moved for %d s", STALL_MS / 1000);
		return;
	}
	wait_while_moving(chain, has_received_all, &chain->inst[RECEIVER], SETTLE_MS);
}

static void
end(struct chain *chain, struct instance *inst)
{
	if (!inst->stopping)
		instance_stop(inst, SIGTERM);
	if (wait_for(chain, has_ended, inst, END_MS))
		return;
	fail(chain, inst, "the %s did not end within %d s and was killed", inst->name,
			END_MS / 1000);
	instance_stop(inst, SIGKILL);
	wait_for(chain, has_ended, inst, END_MS);
}

/* In the packets' direction, so that each stage can still pass on what is under way. */
static void
end_all(struct chain *chain)
{
	chain->ending = true;
	for (int i = 0; chain->failure[0] != '\0' && i < NB_STAGES; i++)
		instance_stop(&chain->inst[i], SIGTERM);
	end(chain, &chain->inst[SENDER]);
	if (chain->interrupted != 0 && chain->failure[0] == '\0')
		wait_while_moving(chain, has_received_all, &chain->inst[RECEIVER], SETTLE_MS / 4);
	end(chain, &chain->inst[RECEIVER]);
	end(chain, &chain->inst[MIDDLE]);
}

static void
open_signals(struct chain *chain)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL); /* were it ignored, no exit status could be had */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	chain->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (chain->signals < 0)
		err(EXIT_FAILURE, "signalfd");
}

void
chain_run(struct chain *chain, const struct plan *plan)
{
	*chain = (struct chain){ .plan = plan };
	for (int i = 0; i < NB_STAGES; i++)
		instance_init(&chain->inst[i], stage_name(i), plan->opt->verbose);
	open_signals(chain);
	run(chain);
	end_all(chain);
	progress_clear(chain);
	for (int i = 0; i < NB_STAGES; i++)
		if (chain->interrupted == 0 && chain->inst[i].last.event != REPORT_FINAL)
			fail(chain, &chain->inst[i], "the %s ended without its final report",
					chain->inst[i].name);
	close(chain->signals);
}
