/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * From the configuration to running ports and streams, and back.
 *
 * The functions that can fail return 0, or -1 after one line on stderr.
 */

#ifndef PVFWD_SETUP_H
#define PVFWD_SETUP_H

#include <stdint.h>

/**
 * See that the port has the queues and takes the ring sizes that are asked for. Sets the number
 * of descriptors that each Rx and each Tx ring will have.
 */
int pvfwd_port_check(uint16_t port, uint16_t *rxd, uint16_t *txd);

/** Configure the port and start it. */
int pvfwd_port_start(uint16_t port);

/** Stop the port and close it. */
void pvfwd_port_close(uint16_t port);

/** Create the mbuf pool for the ports there are and those to be attached. */
int pvfwd_pool_create(void);

/** Pair the ports, share their queues out over the lcores. */
int pvfwd_streams_create(void);

void pvfwd_streams_destroy(void);

#endif
