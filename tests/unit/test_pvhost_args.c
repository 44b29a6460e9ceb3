/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/*
 * The driver's devargs: what is taken, and that what is refused is named in the log.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/Basic.h>

#include "pvhost.h"

int pvhost_logtype;

static char *log_text;
static size_t log_size;
static FILE *log_stream;

/* Parse, and collect in log_text what is logged meanwhile. */
static int
parse(struct pvhost_args *args, const char *params)
{
	int ret;

	free(log_text);
	log_stream = open_memstream(&log_text, &log_size);
	rte_openlog_stream(log_stream);
	ret = pvhost_args_parse(args, params);
	rte_openlog_stream(NULL);
	fclose(log_stream);
	return ret;
}

static void
test_accepted(void)
{
	struct pvhost_args args;

	CU_ASSERT_EQUAL(parse(&args, "iface=/tmp/a.sock"), 0);
	CU_ASSERT_STRING_EQUAL(args.iface, "/tmp/a.sock");
	CU_ASSERT_EQUAL(args.pairs, 1);
	CU_ASSERT_FALSE(args.client);
	CU_ASSERT_TRUE(args.packed);
	CU_ASSERT_EQUAL(parse(&args, "iface=a,packed=0"), 0);
	CU_ASSERT_FALSE(args.packed);
	CU_ASSERT_EQUAL(parse(&args, "iface=a,queues=128,client=1,packed=1"), 0);
	CU_ASSERT_EQUAL(args.pairs, 128);
	CU_ASSERT_TRUE(args.client);
	CU_ASSERT_EQUAL(parse(&args, "queues=1,iface=a,client=0"), 0);
	CU_ASSERT_EQUAL(args.pairs, 1);
	CU_ASSERT_FALSE(args.client);
}

/* Each of these is refused in one line that holds the second string. */
static void
test_refused(void)
{
	static const struct {
		const char *params;
		const char *named;
	} cases[] = {
		{ "", "iface=" },
		{ "queues=1", "iface=" },
		{ "iface=", "iface=" },
		{ "iface", "iface" },
		{ "iface=a,queues=0", "queues=0" },
		{ "iface=a,queues=129", "queues=129" },
		{ "iface=a,queues=300", "queues=300" },
		{ "iface=a,queues=", "queues=" },
		{ "iface=a,queues", "queues" },
		{ "iface=a,queues=two", "queues=two" },
		{ "iface=a,queues=-1", "queues=-1" },
		{ "iface=a,queues=99999999999999999999", "queues=99999999999999999999" },
		{ "iface=a,client=2", "client=2" },
		{ "iface=a,client=yes", "client=yes" },
		{ "iface=a,packed=2", "packed=2" },
		{ "iface=a,packed=x", "packed=x" },
		{ "iface=a,foo=1", "foo" },
		{ "foo,iface=a", "foo" },
		{ "iface=a,queues=1,queues=2", "queues=" },
		{ "iface=a,iface=b", "iface=" },
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct pvhost_args args;

		if (parse(&args, cases[i].params) >= 0 ||
				strstr(log_text, cases[i].named) == NULL ||
				strchr(log_text, '\n') != log_text + log_size - 1) {
			fprintf(stderr, "\"%s\": log is \"%s\"\n", cases[i].params, log_text);
			CU_FAIL("not refused in one line that names the argument");
		}
	}
}

static void
test_longest_path(void)
{
	struct pvhost_args args;
	char params[6 + sizeof(args.iface) + 1] = "iface=";

	memset(params + 6, 'x', sizeof(args.iface) - 1);
	CU_ASSERT_EQUAL(parse(&args, params), 0);
	CU_ASSERT_EQUAL(strlen(args.iface), sizeof(args.iface) - 1);
	params[6 + sizeof(args.iface) - 1] = 'x';
	CU_ASSERT_EQUAL(parse(&args, params), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(log_text, "iface="));
}

int
main(void)
{
	CU_TestInfo tests[] = {
		{ "accepted", test_accepted },
		{ "refused by name", test_refused },
		{ "longest path", test_longest_path },
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{ .pName = "devargs", .pTests = tests },
		CU_SUITE_INFO_NULL,
	};
	unsigned int failures;

	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
		return 1;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures > 0;
}
