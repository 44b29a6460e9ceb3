/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef PVU_PRIV_H
#define PVU_PRIV_H

/* What the files of lib/pvu share. Unless said otherwise, everything here is called with the
 * loop's lock held.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "pvu.h"
#include "pvu_msg.h"

#define PVU_MAX_FDS 8        /* with one message */
#define PVU_PATH_LEN 108     /* sizeof(sun_path) */
#define PVU_TX_BYTES 16384   /* replies a frontend may leave unread beyond its socket buffer */
#define PVU_BURST 32         /* messages of one device before others have their turn */
#define PVU_RETRY_MS 1000    /* between two attempts to connect, or to accept */
#define PVU_MAX_COMPLAINT 64 /* warnings of one connection that reach the log */

/* Protocol features offered: none that is not implemented. */
#define PVU_PROTO_OFFERED                                                                          \
	(PVU_PROTO_MQ | PVU_PROTO_REPLY_ACK | PVU_PROTO_MTU | PVU_PROTO_CONFIG |                   \
			PVU_PROTO_RESET_DEVICE | PVU_PROTO_STATUS)

/* Virtio status bits that decide about the rings. */
#define PVU_S_DRIVER_OK 0x04
#define PVU_S_FEATURES_OK 0x08
#define PVU_S_FAILED 0x80

/* One message, complete, while it is being handled. A handler that keeps a descriptor puts -1 in
 * its place; all others are closed when it returns.
 */
struct pvu_msg {
	struct pvu_hdr hdr;
	bool need_reply; /* asked for, and REPLY_ACK was acknowledged before */
	uint8_t payload[PVU_MAX_PAYLOAD];
	int fds[PVU_MAX_FDS];
	unsigned int nfds;
	uint8_t reply[PVU_MAX_PAYLOAD];
	uint32_t reply_size;
};

/* The connection: one message being received, replies not yet sent. */
struct pvu_conn {
	int fd;
	size_t rx_len;
	uint8_t rx[sizeof(struct pvu_hdr) + PVU_MAX_PAYLOAD];
	int fds[PVU_MAX_FDS];
	unsigned int nfds;
	uint32_t events; /* epoll events asked for */
	size_t tx_len;
	uint8_t tx[PVU_TX_BYTES];
};

/* A mapped memory table. It is never changed: a new one takes its place. */
struct pvu_memory {
	SLIST_ENTRY(pvu_memory) abandoned;
	unsigned int count;
	struct pvu_region regions[PVU_MAX_REGIONS]; /* as the owner sees them */
	struct pvu_mapping {
		void *base;
		size_t len;
		int guard; /* of pvu_guard_add() */
	} maps[PVU_MAX_REGIONS];
};

/* What is known about one ring. The frontend may say it in any order. */
struct pvu_vring {
	uint32_t size; /* 0: not known */
	uint32_t base; /* as SET_VRING_BASE said it, or as ring_stop() returned it */
	struct vhost_vring_addr addr;
	bool has_base;
	bool has_addr;
	bool kicked;    /* SET_VRING_KICK came after the last GET_VRING_BASE */
	bool running;   /* between ring_start() and ring_stop() */
	bool stuck;     /* a data thread did not let go of it */
	int8_t enabled; /* -1: SET_VRING_ENABLE never came */
	int kick_fd;
	int call_fd;
};

struct pvu_dev {
	TAILQ_ENTRY(pvu_dev) next;
	struct pvu_loop *loop;
	uint64_t id; /* never used again: a late epoll event cannot reach another device */

	char path[PVU_PATH_LEN];
	bool client;
	bool once; /* made from a connected socket */
	unsigned int nrings;
	uint64_t features;
	uint8_t config[PVU_MAX_CONFIG];
	size_t config_len;
	const struct pvu_ops *ops;
	void *owner;

	int listen_fd;
	dev_t sock_dev; /* identity of our socket file */
	ino_t sock_ino;
	int64_t retry_at; /* monotonic ms, -1: no timer */
	bool told_waiting;

	struct pvu_conn conn;
	bool features_acked;
	unsigned int complaints;
	char why[96]; /* of the failure being handled */
	struct pvu_memory *mem;
	struct pvu_vring *rings;

	struct pvu_info now;  /* the control thread's own */
	struct pvu_info told; /* as ops->changed() saw it last */
	pthread_mutex_t info_lock;
	struct pvu_info shown; /* the copy for pvu_dev_info(), under info_lock */
};

struct pvu_loop {
	/* A lock that is granted in the order of asking: a flood of messages cannot starve
	 * pvu_dev_destroy().
	 */
	pthread_mutex_t mutex;
	pthread_cond_t turn;
	uint64_t next_ticket;
	uint64_t serving;

	int epoll_fd;
	int wake_fd; /* eventfd: stop, a new timer, a fault in a region */
	int null_fd;
	unsigned long aio; /* an aio_context_t, 0: none yet */
	atomic_bool stop;
	uint64_t last_id;
	TAILQ_HEAD(, pvu_dev) devs;
};

/* pvu_loop.c */
enum pvu_event_kind { PVU_EV_WAKE, PVU_EV_LISTEN, PVU_EV_CONN };
void pvu_loop_lock(struct pvu_loop *loop);
void pvu_loop_unlock(struct pvu_loop *loop);
/* Watch @p fd, or change what it is watched for. @return 0 or a negative errno */
int pvu_loop_watch(struct pvu_dev *dev, int fd, enum pvu_event_kind kind, uint32_t events);
void pvu_loop_unwatch(struct pvu_loop *loop, int fd);
void pvu_loop_wake(struct pvu_loop *loop);
int64_t pvu_now_ms(void);

/* pvu_notify.c */
/* Make pvu_notify() ready for eventfds. @return 0 or a negative errno */
int pvu_notify_prepare(struct pvu_loop *loop);
void pvu_notify_fini(struct pvu_loop *loop);

/* pvu_report.c */
void pvu_log(struct pvu_dev *dev, enum pvu_log_level level, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
/* As pvu_log() at warning level, but a hostile frontend cannot fill the log with it. */
void pvu_complain(struct pvu_dev *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Keep the reason of a failure for the one who answers it. @return err */
int pvu_fail(struct pvu_dev *dev, int err, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
void pvu_dev_publish(struct pvu_dev *dev);

/* pvu_dev.c */
/* Serve a connected frontend. @return 0, or a negative errno with @p fd still the caller's */
int pvu_dev_up(struct pvu_dev *dev, int fd);
void pvu_dev_down(struct pvu_dev *dev, const char *reason);
/* The virtio reset: stop all rings and forget everything but the connection, the memory and the
 * descriptors to call. @return 0 or -ETIMEDOUT
 */
int pvu_dev_reset(struct pvu_dev *dev);
void pvu_dev_timer(struct pvu_dev *dev);
void pvu_dev_check_faults(struct pvu_dev *dev);

/* pvu_sock.c */
int pvu_sock_listen(struct pvu_dev *dev);
void pvu_sock_unlisten(struct pvu_dev *dev);
void pvu_sock_accept(struct pvu_dev *dev);
void pvu_sock_connect(struct pvu_dev *dev);

/* pvu_conn.c */
void pvu_conn_serve(struct pvu_dev *dev, uint32_t events);
int pvu_conn_reply(struct pvu_dev *dev, uint32_t request, const void *payload, uint32_t size);
void pvu_conn_close(struct pvu_dev *dev);
/* @return whether the frontend has left, perhaps with messages still to be read */
bool pvu_conn_is_over(struct pvu_dev *dev);

/* pvu_proto.c: both take the connection down when it cannot go on. */
bool pvu_proto_admits(struct pvu_dev *dev, const struct pvu_hdr *hdr);
void pvu_proto_handle(struct pvu_dev *dev, struct pvu_msg *msg);

/* pvu_handlers.c, pvu_ring_handlers.c: one function a request, in pvu_proto.c's table. */
typedef int pvu_handler(struct pvu_dev *dev, struct pvu_msg *msg);
pvu_handler pvu_get_features, pvu_set_features, pvu_set_owner, pvu_reset_owner, pvu_set_mem_table,
		pvu_get_protocol_features, pvu_set_protocol_features, pvu_get_queue_num,
		pvu_net_set_mtu, pvu_get_config, pvu_set_config, pvu_reset_device, pvu_set_status,
		pvu_get_status, pvu_set_vring_num, pvu_set_vring_addr, pvu_set_vring_base,
		pvu_get_vring_base, pvu_set_vring_kick, pvu_set_vring_call, pvu_set_vring_err,
		pvu_set_vring_enable;

/* pvu_mem.c */
int pvu_mem_map(struct pvu_dev *dev, const struct pvu_mem_region *wire, const int *fds,
		unsigned int count, struct pvu_memory **mem);
void pvu_mem_free(struct pvu_memory *mem);
/* Give the table up without unmapping it: a data thread may still be in it. */
void pvu_mem_abandon(struct pvu_memory *mem);
/* @return where the frontend's [user_addr, +len) is in this process, NULL if not in one region */
void *pvu_mem_at(const struct pvu_memory *mem, uint64_t user_addr, uint64_t len);

/* pvu_guard.c: SIGBUS inside a guarded range becomes zero pages. Needs no lock. */
int pvu_guard_add(void *base, size_t len, size_t page, int wake_fd);
void pvu_guard_remove(int guard);
void pvu_guard_abandon(int guard);
bool pvu_guard_hit(int guard);

/* pvu_ring.c */
void pvu_vring_init(struct pvu_vring *vr);
/* @return whether the acknowledged features and status allow any ring to run */
bool pvu_dev_serving(const struct pvu_dev *dev);
int pvu_ring_check_size(struct pvu_dev *dev, uint32_t size);
/* Can @p addr be the ring's addresses? @return 0, -EINVAL (never), -EFAULT (not in this memory) */
int pvu_ring_check_addr(struct pvu_dev *dev, const struct pvu_vring *vr,
		const struct vhost_vring_addr *addr);
int pvu_ring_check_base(struct pvu_dev *dev, const struct pvu_vring *vr, uint32_t base);
/* @return the base as GET_VRING_BASE reports it */
uint16_t pvu_ring_base(const struct pvu_dev *dev, const struct pvu_vring *vr);
/* Start ring @p i if all it needs is known and it is not running yet. */
void pvu_ring_settle(struct pvu_dev *dev, unsigned int i);
/* Stop ring @p i if it is running, and keep its base. @return 0 or -ETIMEDOUT */
int pvu_ring_hold(struct pvu_dev *dev, unsigned int i);
void pvu_ring_settle_all(struct pvu_dev *dev);
int pvu_ring_hold_all(struct pvu_dev *dev);
/* Ring @p i, stopped, needs a new SET_VRING_KICK to run again. */
void pvu_ring_unkick(struct pvu_vring *vr);
void pvu_ring_close_fds(struct pvu_vring *vr);
/* Make a frontend's event descriptor safe to write to. @return the one to use, *fd is consumed
 * unless the result is negative.
 */
int pvu_event_fd(struct pvu_dev *dev, int *fd);
void pvu_close(int *fd);

#endif /* PVU_PRIV_H */
