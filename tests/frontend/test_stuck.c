/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/* A data thread that stays inside a burst for longer than the control thread waits: its mbuf lies
 * on a page that cannot be read, and the handler of the fault takes its time.
 */

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "bystander.h"

#define PAGE 4096

static uint8_t *page;
static bool inside, release;

static void
on_segv(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if ((uint8_t *)info->si_addr < page || (uint8_t *)info->si_addr >= page + PAGE) {
		signal(sig, SIG_DFL);
		return;
	}
	pvq_store_release(&inside, true);
	while (!pvq_load_acquire(&release))
		usleep(1000);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void
on_free(void *addr, void *arg)
{
	(void)addr;
	(void)arg;
}

static void *
send_stuck(void *arg)
{
	struct rte_mbuf *m = arg;

	if (fx_tx(&m, 1) != 1)
		rte_pktmbuf_free(m);
	return NULL;
}

static bool
is_set(void *arg)
{
	return pvq_load_acquire((bool *)arg);
}

static bool
is_down(void *arg)
{
	(void)arg;
	return !fx_link_up(&fx.port);
}

/* Is anything of a descriptor ring given back? */
static unsigned int
used_slots(const struct pvq_driver *drv)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < drv->size; i++)
		n += (drv->desc[i].flags & 0x8080) == 0x8080;
	return n;
}

/* The frontend leaves meanwhile, and the next one comes. What the thread does when it gets on
 * reaches nothing of the new frontend's.
 */
static void
test_stuck(void)
{
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = on_free };
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO }, old;
	const uint32_t room = 2000;
	struct rte_mbuf *m;
	pthread_t thread;

	fx_start(FE_PLAIN, 64);
	bystander_start();
	fe_post(&fx.fe, FE_RXQ, &room, 1, false);
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, &old);
	m = rte_pktmbuf_alloc(fx.pool);
	rte_mbuf_ext_refcnt_set(&shinfo, 1);
	rte_pktmbuf_attach_extbuf(m, page, RTE_BAD_IOVA, PAGE, &shinfo);
	m->data_off = 0;
	rte_pktmbuf_append(m, 60);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, send_stuck, m), 0);
	CU_ASSERT_TRUE(fx_wait(is_set, &inside));

	peer_close(&fx.fe.peer);
	/* As long as the control thread waits, and somewhat more. */
	for (unsigned int i = 0; i < 3 && fx_link_up(&fx.port); i++)
		fx_wait(is_down, NULL);
	fe_close(&fx.fe);
	CU_ASSERT_EQUAL_FATAL(fe_open(&fx.fe, fx.port.path, FE_PLAIN), 0);
	fe_ring_up(&fx.fe, FE_RXQ, 64, 0);
	for (unsigned int i = 0; i < 10; i++)
		fe_post(&fx.fe, FE_RXQ, &room, 1, false);
	pvq_store_release(&release, true);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(used_slots(&fx.fe.ring[FE_RXQ].drv), 0);
	bystander_stop();
	sigaction(SIGSEGV, &old, NULL);
	munmap(page, PAGE);
	fx_restart(FE_PLAIN, 64, 0);
	fx_abandons(2);
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "a data thread does not let go", test_stuck },
		CU_TEST_INFO_NULL,
	};

	return fx_run("stuck", tests);
}
