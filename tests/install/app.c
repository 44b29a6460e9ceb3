/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/*
 * The least application: it links the driver through pkg-config and has the port it was given.
 */

#include <stdio.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

int
main(int argc, char **argv)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	if (rte_eth_dev_get_port_by_name("net_pvhost0", &port) != 0 ||
			rte_eth_dev_info_get(port, &info) != 0)
		return 1;
	printf("port %u is driven by %s\n", port, info.driver_name);
	rte_eth_dev_close(port);
	rte_eal_cleanup();
	return 0;
}
