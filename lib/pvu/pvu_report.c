/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* What a device tells about itself: lines of log, reasons of failures, snapshots of its state. */

#include <stdarg.h>
#include <stdio.h>

#include "pvu_priv.h"

static void
vlog(struct pvu_dev *dev, enum pvu_log_level level, const char *fmt, va_list ap)
{
	char line[256];

	vsnprintf(line, sizeof(line), fmt, ap);
	dev->ops->log(dev->owner, level, line);
}

void
pvu_log(struct pvu_dev *dev, enum pvu_log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vlog(dev, level, fmt, ap);
	va_end(ap);
}

void
pvu_complain(struct pvu_dev *dev, const char *fmt, ...)
{
	va_list ap;

	if (dev->complaints > PVU_MAX_COMPLAINT)
		return;
	if (dev->complaints++ == PVU_MAX_COMPLAINT) {
		pvu_log(dev, PVU_LOG_WARNING, "no more warnings about this connection");
		return;
	}
	va_start(ap, fmt);
	vlog(dev, PVU_LOG_WARNING, fmt, ap);
	va_end(ap);
}

int
pvu_fail(struct pvu_dev *dev, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(dev->why, sizeof(dev->why), fmt, ap);
	va_end(ap);
	return err;
}

/* Let everybody know what is new, once an event has been dealt with. */
void
pvu_dev_publish(struct pvu_dev *dev)
{
	const struct pvu_info *now = &dev->now, *told = &dev->told;
	bool changed = now->connected != told->connected ||
		       now->rings_running != told->rings_running || now->mtu != told->mtu ||
		       now->status != told->status || now->connections != told->connections;

	pthread_mutex_lock(&dev->info_lock);
	dev->shown = dev->now;
	pthread_mutex_unlock(&dev->info_lock);
	if (!changed)
		return;
	dev->told = dev->now;
	dev->ops->changed(dev->owner, &dev->told);
}

void
pvu_dev_info(struct pvu_dev *dev, struct pvu_info *info)
{
	pthread_mutex_lock(&dev->info_lock);
	*info = dev->shown;
	pthread_mutex_unlock(&dev->info_lock);
}
