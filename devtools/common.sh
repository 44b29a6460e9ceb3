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

# An apt.conf that keeps what apt finds out and downloads in a folder: DIR, which holds lists/partial.
# It is read after the machine's own configuration, so that #clear takes its hooks away.
private_apt_conf()
{
	cat <<-CONF
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		APT::Sandbox::User "root";
		Dir::State::Lists "$1/lists";
		Dir::Cache "$1";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
	CONF
}

# Configures a folder unless it is: DIR MESON-OPTION...
configure()
{
	local dir=$1 log=$1/configure.log
	shift
	mkdir -p -- "$dir"
	[[ -e $dir/build.ninja ]] || meson setup "$@" "$dir" "$top" > "$log" 2>&1 ||
		failed "meson setup" "$log"
}

# Compiles what meson's tests of a configured folder need, and runs them; says how many passed, or
# shows those that did not: DIR MESON-ARGUMENT...
run_tests()
{
	local dir=$1 log=$1/test.log
	shift
	meson test -C "$dir" --print-errorlogs "$@" > "$log" 2>&1 < /dev/null ||
		failed "building or testing in $dir" "$log"
	sed -nE 's/^Ok: +([0-9]+) *$/\1 tests passed/p' "$log" >&2
}
