# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
#
# What the scripts of this folder share; sourced, never run.
# shellcheck shell=bash

# A minimal Debian has no locale set, and meson wants UTF-8.
export LC_ALL=C.UTF-8

# shellcheck disable=SC2034
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
me=devtools/${0##*/}

say() { printf '%s\n' "$*" >&2; }
die() { say "$me: $*"; exit 2; }

# The comment block at a script's head, from its "Usage:" line on, is its help.
usage() { awk '/^# Usage:/ { on = 1 } on && !/^#/ { exit } on { sub(/^# ?/, ""); print }' "$0"; }

# Tail of a log that explains why a step failed.
failed()
{
	say "$me: $1 failed; its last lines:"
	tail -n 25 -- "$2" >&2
	exit 1
}
