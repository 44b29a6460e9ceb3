/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pvhost contributors
 */

/**
 * @file
 * The figures for a machine: lines of JSON on the descriptor of --report-fd.
 */

#ifndef PVFWD_REPORT_H
#define PVFWD_REPORT_H

struct pvfwd_totals;

/**
 * Write one line, if there is a descriptor. event is "start", "period", "done" or "final". A
 * reader that does not keep up loses "period" lines, and is waited for one second by others.
 */
void pvfwd_report(const char *event, const struct pvfwd_totals *t);

#endif
