/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* EAL, ports, and the checks around each case. */

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CUnit/Basic.h>
#include <bsd/string.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#include "fixture.h"

static struct {
	unsigned int mbufs;
	unsigned int fds;
	unsigned int maps;
} before;
static bool spoiled;
static char folder[32];

static int
configure(const struct fx_port *port, const struct fx_opts *opts)
{
	struct rte_eth_conf conf = {
		.rxmode.offloads = opts->no_scatter ? 0 : RTE_ETH_RX_OFFLOAD_SCATTER,
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
		.intr_conf.lsc = opts->lsc,
	};
	uint16_t pairs = opts->pairs == 0 ? 1 : opts->pairs;
	int rc = rte_eth_dev_configure(port->id, pairs, pairs, &conf);

	for (uint16_t i = 0; i < pairs && rc == 0; i++) {
		rc = rte_eth_rx_queue_setup(port->id, i, 512, SOCKET_ID_ANY, NULL,
				opts->pool == NULL ? fx.pool : opts->pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(port->id, i, 512, SOCKET_ID_ANY, NULL);
	}
	return rc == 0 ? rte_eth_dev_start(port->id) : rc;
}

int
fx_port_open(struct fx_port *port, const struct fx_opts *opts)
{
	static unsigned int number;
	char args[128];
	int rc;

	snprintf(port->name, sizeof(port->name), "net_pvhost%u", number);
	if (opts->path == NULL)
		snprintf(port->path, sizeof(port->path), "%s/s%u", folder, number++);
	else
		strlcpy(port->path, opts->path, sizeof(port->path));
	snprintf(args, sizeof(args), "iface=%s,queues=%u,client=%d", port->path,
			opts->pairs == 0 ? 1 : opts->pairs, opts->client);
	rc = rte_eal_hotplug_add("vdev", port->name, args);
	if (rc < 0)
		return rc;
	port->open = true;
	rc = rte_eth_dev_get_port_by_name(port->name, &port->id);
	return rc == 0 ? configure(port, opts) : rc;
}

void
fx_port_close(struct fx_port *port)
{
	uint64_t start = fx_now_ms();

	if (!port->open)
		return;
	CU_ASSERT_EQUAL(rte_eth_dev_stop(port->id), 0);
	CU_ASSERT_EQUAL(rte_eth_dev_close(port->id), 0);
	CU_ASSERT_EQUAL(rte_eal_hotplug_remove("vdev", port->name), 0);
	CU_ASSERT_TRUE(fx_now_ms() - start < 1000);
	CU_ASSERT_TRUE(access(port->path, F_OK) < 0);
	port->open = false;
}

/* Mappings of frontends' memory that this process still has. */
static unsigned int
count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned int n = 0;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		n += strstr(line, "memfd:peer") != NULL;
	if (maps != NULL)
		fclose(maps);
	return n;
}

void
fx_spoiled(void)
{
	spoiled = true;
}

void
fx_abandons(unsigned int fds)
{
	before.fds += fds;
	before.maps++;
}

static void
set_up(void)
{
	before.mbufs = rte_mempool_avail_count(fx.pool);
	before.fds = peer_count_fds();
	before.maps = count_mappings();
	fx.fe = (struct fe){ .peer.fd = -1 };
	spoiled = false;
}

static void
tear_down(void)
{
	unsigned int faults;

	if (fx.port.open) {
		if (!spoiled)
			CU_ASSERT_TRUE(fx_good());
		faults = fx.fe.faults;
		fe_close(&fx.fe);
		CU_ASSERT_EQUAL(faults, 0);
		CU_ASSERT_EQUAL(fe_open(&fx.fe, fx.port.path, FE_PLAIN), 0);
		CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_RXQ, 64, 0), 0);
		CU_ASSERT_EQUAL(fe_ring_up(&fx.fe, FE_TXQ, 64, 0), 0);
		CU_ASSERT_TRUE(fx_good());
		CU_ASSERT_EQUAL(fx.fe.faults, 0);
	}
	fe_close(&fx.fe);
	fx_port_close(&fx.port);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(fx.pool), before.mbufs);
	CU_ASSERT_EQUAL(peer_count_fds(), before.fds);
	CU_ASSERT_EQUAL(count_mappings(), before.maps);
}

/* EAL on one lcore that may run wherever this process may: threads are to run beside it. */
static void
start_eal(const char *suite)
{
	char lcores[256], prefix[64], *argv[] = {
		"test", "--no-huge", "-m", "64", "--no-pci", "--no-shconf", "--no-telemetry",
		"--log-level=lib.*:critical", "--log-level=pmd.net.pvhost:critical", lcores, prefix,
	};
	int len = snprintf(lcores, sizeof(lcores), "--lcores=0@(");
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		err(1, "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE && len < (int)sizeof(lcores) - 8; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			len += snprintf(lcores + len, sizeof(lcores) - len, "%d,", cpu);
	lcores[len - 1] = ')';
	snprintf(prefix, sizeof(prefix), "--file-prefix=fe-%s-%d", suite, getpid());
	if (rte_eal_init(RTE_DIM(argv), argv) < 0)
		errx(1, "EAL: %s", rte_strerror(rte_errno));
}

int
fx_run(const char *suite, CU_TestInfo *tests)
{
	CU_SuiteInfo suites[] = {
		{ .pName = suite, .pTests = tests, .pSetUpFunc = set_up,
		  .pTearDownFunc = tear_down },
		CU_SUITE_INFO_NULL,
	};
	char run_dir[PATH_MAX];
	unsigned int failures;

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(folder, sizeof(folder), "/tmp/pvhost-fe-XXXXXX");
	if (mkdtemp(folder) == NULL)
		err(1, "%s", folder);
	start_eal(suite);
	fx.pool = rte_pktmbuf_pool_create("pool", FX_POOL, 0, 0, FX_ROOM + RTE_PKTMBUF_HEADROOM,
			SOCKET_ID_ANY);
	if (fx.pool == NULL)
		errx(1, "mempool: %s", rte_strerror(rte_errno));
	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
		return 1;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	rte_mempool_free(fx.pool);
	strlcpy(run_dir, rte_eal_get_runtime_dir(), sizeof(run_dir));
	rte_eal_cleanup();
	/* EAL leaves its folder behind. */
	rmdir(run_dir);
	rmdir(folder);
	return failures > 0;
}
