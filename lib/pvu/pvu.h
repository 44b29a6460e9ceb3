/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVU_H
#define PVU_H

/**
 * @file
 * The vhost-user protocol, backend side.
 *
 * A *loop* is one control thread's worth of ports; a *device* is one socket and at most one
 * connected frontend. The library owns sockets, messages, file descriptors and the mapping of the
 * frontend's memory. It never looks into a ring: it tells its owner when a ring may be served,
 * and when to let go of it.
 *
 * Threads: a callback runs on the thread inside pvu_loop_run(), or on that of the caller of
 * pvu_dev_create() or pvu_dev_destroy(), always with the loop's lock held; a callback must not
 * call pvu_dev_create(), pvu_dev_destroy() or pvu_loop_*(). All other functions may be called from
 * any thread. Data threads never call this library: what they use, they were given by ring_start()
 * and lose by ring_stop(); pvu_notify() is theirs to call.
 *
 * Functions return 0 or a count, or a negative errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Regions of frontend memory a device can hold (vhost-user, "Memory regions description"). */
#define PVU_MAX_REGIONS 8

/** Most rings of one device; the largest number of queue pairs, times two. */
#define PVU_MAX_RINGS 256

struct pvu_loop;
struct pvu_dev;

/** One mapped region of the frontend's memory. Addresses and sizes are in bytes. */
struct pvu_region {
	uint64_t guest_addr; /**< where the driver's descriptors see it */
	uint64_t user_addr;  /**< where the frontend sees it; ring addresses are of this kind */
	uint64_t size;
	void *host; /**< where this process sees it */
};

/** A ring that may be served. All of it stays valid until ring_stop() has returned. */
struct pvu_ring {
	uint16_t size; /**< entries, 1..32768; a power of two for a split ring */
	uint16_t base; /**< next entry to take; packed: index, wrap counter in bit 15 */
	void *desc;    /**< descriptor table, or packed descriptor ring */
	void *driver;  /**< available ring, or driver event suppression */
	void *device;  /**< used ring, or device event suppression */
	int kick_fd;   /**< eventfd of the driver's kicks, -1: the ring is polled */
	int call_fd;   /**< for pvu_notify(), -1: the driver polls */
};

/** What a device looks like from outside; see pvu_dev_info(). */
struct pvu_info {
	bool connected;
	uint64_t features;          /**< as acknowledged by SET_FEATURES */
	uint64_t protocol_features; /**< as acknowledged by SET_PROTOCOL_FEATURES */
	uint16_t rings_running;     /**< rings between ring_start() and ring_stop() */
	uint16_t nregions;
	uint16_t mtu;          /**< as told by NET_MTU, 0: never */
	uint8_t status;        /**< as told by SET_STATUS, 0: never */
	uint64_t messages;     /**< messages handled since creation */
	uint64_t connections;  /**< frontends that have been connected */
	char last_message[48]; /**< name of the last request */
	int last_result;       /**< 0 or the negative errno of the last request */
	char down_reason[96];  /**< why the last connection ended, "" if none did */
};

enum pvu_log_level { PVU_LOG_ERR, PVU_LOG_WARNING, PVU_LOG_INFO, PVU_LOG_DEBUG };

/** What the owner of a device supplies. All are required. */
struct pvu_ops {
	/** The driver's feature bits are known or have changed, or are forgotten (0) at a reset or
	 *  the connection's end; no ring is running. Bit 30 is among them.
	 */
	void (*set_features)(void *owner, uint64_t features);

	/** The memory table has changed; no ring is running. The table stays valid until the next
	 *  call; count 0 means that there is none.
	 */
	void (*set_memory)(void *owner, const struct pvu_region *regions, unsigned int count);

	/** Begin to serve ring @p index. A negative errno leaves it stopped. */
	int (*ring_start)(void *owner, unsigned int index, const struct pvu_ring *ring);

	/** Stop serving ring @p index, and return only when no thread touches the ring, the
	 *  frontend's memory or the ring's fds on its behalf any more.
	 *  @param base the next entry to take, in the encoding of struct pvu_ring
	 *  @return 0, or -ETIMEDOUT when a data thread would not let go: then the memory is never
	 *          unmapped and the connection ends.
	 */
	int (*ring_stop)(void *owner, unsigned int index, uint16_t *base);

	/** Something in struct pvu_info changed: connection, running rings, MTU, status. Called
	 *  once after each event that changed anything, when the change is complete.
	 */
	void (*changed)(void *owner, const struct pvu_info *info);

	/** One line of text without a newline. */
	void (*log)(void *owner, enum pvu_log_level level, const char *line);
};

/** How a device is set up. Strings and the configuration space are copied. */
struct pvu_params {
	const char *path;    /**< socket path, at most 107 bytes */
	bool client;         /**< connect to the path, again and again, instead of listening */
	unsigned int nrings; /**< rings offered, 1..PVU_MAX_RINGS */
	uint64_t features;   /**< virtio feature bits offered; pvu adds bit 30 by itself */
	const void *config;  /**< device configuration space (struct virtio_net_config) */
	size_t config_len;   /**< its length, at most 256 */
	const struct pvu_ops *ops;
	void *owner; /**< first argument of every callback */
};

/** Make a loop. @return NULL with errno set. */
struct pvu_loop *pvu_loop_create(void);

/** Free a loop that has no device and is not being run. */
void pvu_loop_destroy(struct pvu_loop *loop);

/** Serve all devices of @p loop until pvu_loop_stop(): the body of the control thread.
 *  Nothing that a frontend does blocks it.
 */
int pvu_loop_run(struct pvu_loop *loop);

/** Serve what is ready now, waiting at most @p timeout_ms for something; for tests and for
 *  owners with a loop of their own. @return the number of events served.
 */
int pvu_loop_poll(struct pvu_loop *loop, int timeout_ms);

/** Make pvu_loop_run() return, from any thread. */
void pvu_loop_stop(struct pvu_loop *loop);

/** Open the socket and begin to serve it.
 *  A stale socket file nobody listens on is replaced; one that is in use, or any other kind of
 *  file, is an error.
 *  @return 0 with *@p dev set; -ENAMETOOLONG, -ENOENT (folder missing), -EADDRINUSE, -EINVAL,
 *          -ENOMEM …; a line that names the reason has been logged.
 */
int pvu_dev_create(struct pvu_loop *loop, const struct pvu_params *params, struct pvu_dev **dev);

/** As pvu_dev_create(), but serve the connected socket @p fd, which the device then owns, and
 *  nothing after it; params->path is only a name.
 */
int pvu_dev_create_fd(struct pvu_loop *loop, const struct pvu_params *params, int fd,
		struct pvu_dev **dev);

/** Stop all rings, disconnect, close every fd, unmap all memory, remove the socket file.
 *  No callback runs after it has returned.
 */
void pvu_dev_destroy(struct pvu_dev *dev);

/** Signal @p fd, a call descriptor that a device of @p loop gave to ring_start(), from any thread.
 *  Never blocks, whatever the frontend has done to the descriptor; one that is full already has an
 *  event pending.
 */
void pvu_notify(struct pvu_loop *loop, int fd);

/** A snapshot of the device's state. */
void pvu_dev_info(struct pvu_dev *dev, struct pvu_info *info);

/** The name of a vhost-user request number, "unknown" if it has none. */
const char *pvu_request_name(uint32_t request);

#endif /* PVU_H */
