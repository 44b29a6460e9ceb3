/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

#ifndef FIXTURE_H
#define FIXTURE_H

/**
 * @file
 * One port, one frontend on it, and what is checked after every case: the port still serves this
 * frontend and the next one, it closes within a second, and no mbuf, descriptor, mapping or socket
 * file is left behind.
 */

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "frontend.h"

#define FX_POOL	   2047 /* mbufs */
#define FX_ROOM	   2048 /* data bytes of one */
#define FX_MAX_PKT 66000

/** The lengths of a buffer's segments, and their number. */
#define SEGS(...) (uint32_t[]){ __VA_ARGS__ }, RTE_DIM(((uint32_t[]){ __VA_ARGS__ }))

struct fx_port {
	char name[32];
	char path[64];
	uint16_t id;
	bool open;
};

struct fx_opts {
	unsigned int pairs;	  /**< 0: one */
	struct rte_mempool *pool; /**< NULL: the fixture's */
	const char *path;	  /**< NULL: a new one */
	bool no_scatter;
	bool client;
	bool lsc;
};

struct fx {
	struct rte_mempool *pool;
	struct fx_port port;
	struct fe fe;
	uint16_t size; /**< of the rings */
};
extern struct fx fx;

/** Start EAL, run the tests with the checks around each. @return main()'s exit status */
int fx_run(const char *suite, CU_TestInfo *tests);

/** For a test that may take longer than a second to be sure: milliseconds on a steady clock. */
uint64_t fx_now_ms(void);
/** Wait until @p done says so, two seconds at most. @return whether it did */
bool fx_wait(bool (*done)(void *arg), void *arg);

/** Make a port, set its queues up, start it. @return 0 or a negative errno */
int fx_port_open(struct fx_port *port, const struct fx_opts *opts);
void fx_port_close(struct fx_port *port);
bool fx_link_up(const struct fx_port *port);
struct rte_eth_stats fx_stats(const struct fx_port *port);

/** The fixture's port, its frontend, rings 0 and 1 with @p size slots. */
void fx_start(uint64_t features, uint16_t size);
void fx_start_with(const struct fx_opts *opts, uint64_t features, uint16_t size, uint64_t slots);
/** A fresh frontend on the same port; the old one is closed if it was not. */
void fx_restart(uint64_t features, uint16_t size, uint64_t slots);

/** A packet as an mbuf chain of these segments; @p n 0: one of whatever room is needed. */
struct rte_mbuf *fx_mbuf(const uint8_t *pkt, uint32_t len, const uint32_t *lens, unsigned int n);
/** Is @p m, received from @p port, sound and this packet? */
bool fx_is_packet(const struct fx_port *port, const struct rte_mbuf *m, const uint8_t *pkt,
		uint32_t len);

static inline uint16_t
fx_rx(struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_rx_burst(fx.port.id, 0, pkts, n);
}

static inline uint16_t
fx_tx(struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_tx_burst(fx.port.id, 0, pkts, n);
}

/** Receive what there is, and free it. @return the number of packets */
unsigned int fx_drain(void);
/** What was offered on the transmit ring becomes no packet; @p n errors are counted, and as many
 *  buffers are back.
 */
bool fx_drops(unsigned int n);
/** The driver sends one packet cut so; exactly that packet is received and its buffer is back. */
bool fx_receives(uint32_t len, const uint32_t *lens, unsigned int n, bool indirect);
/** One buffer cut so is posted and one packet sent: exactly that packet comes out. */
bool fx_sends(uint32_t len, const uint32_t *lens, unsigned int n, bool indirect);
/** Packet @p number, of @p len bytes, as an mbuf. */
struct rte_mbuf *fx_packet(uint32_t len, uint64_t number);
/** Send it, or free it. @return how many were taken */
uint16_t fx_send(uint32_t len, uint64_t number);
/** Is it the next to arrive? */
bool fx_arrives(uint32_t len, uint64_t number);
/** Post @p n buffers of @p len bytes. */
void fx_post(unsigned int ring, unsigned int n, uint32_t len);
/** The driver offers @p n packets of 60 bytes. */
void fx_offer(unsigned int ring, unsigned int n);
/** Send @p n packets of 60 bytes in one burst. @return how many were taken */
uint16_t fx_burst(uint16_t queue, uint16_t n);
/** The driver takes all that has arrived. @return the number of packets of 60 bytes */
unsigned int fx_collect(unsigned int ring);
/** A plain packet goes each way. */
bool fx_good(void);

/** Where a test has made its own frontend unusable: check only the next one. */
void fx_spoiled(void);

/** One memory and @p fds descriptors stay behind by design. */
void fx_abandons(unsigned int fds);

#endif /* FIXTURE_H */
