/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* Writing an eventfd blocks when its counter is full and O_NONBLOCK is off, and both are the
 * frontend's to change at any moment: it shares the open file. The kernel itself, when it signals
 * an eventfd, never waits. So the write is left to it: a read of nothing is submitted for
 * asynchronous execution, completes at once, and the eventfd is told of the completion.
 */

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/aio_abi.h>

#include "pvu_priv.h"

/* Completions that may wait to be collected; nobody is interested in them. */
#define NR_EVENTS 128

static void
collect(aio_context_t context)
{
	struct io_event events[NR_EVENTS];
	struct timespec now = { 0 };

	syscall(__NR_io_getevents, context, 0, NR_EVENTS, events, &now);
}

/* To take a context down costs tens of milliseconds: no loop has one before it is needed. */
int
pvu_notify_prepare(struct pvu_loop *loop)
{
	if (loop->aio == 0 && syscall(__NR_io_setup, NR_EVENTS, &loop->aio) < 0)
		return -errno;
	return 0;
}

void
pvu_notify_fini(struct pvu_loop *loop)
{
	if (loop->aio != 0)
		syscall(__NR_io_destroy, loop->aio);
}

void
pvu_notify(struct pvu_loop *loop, int fd)
{
	struct iocb request = {
		.aio_fildes = loop->null_fd,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = fd,
	};
	struct iocb *requests[] = { &request };
	const uint64_t one = 1;
	long n;

	n = syscall(__NR_io_submit, loop->aio, 1, requests);
	if (n < 0 && errno == EAGAIN) {
		collect(loop->aio);
		n = syscall(__NR_io_submit, loop->aio, 1, requests);
	}
	/* A pipe: it was opened anew, so its O_NONBLOCK is ours alone. A full one has an event
	 * pending already. Or the kernel lends no context (fs.aio-max-nr, a build without AIO):
	 * then O_NONBLOCK is all there is.
	 */
	if (n < 0 && (errno == EINVAL || errno == ENOSYS) && write(fd, &one, sizeof(one)) < 0)
		return;
}
