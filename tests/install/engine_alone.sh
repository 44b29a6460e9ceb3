#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
#
# Builds lib/pvq, lib/pvu and their tests where no DPDK can be found, in a folder of its own, and
# runs the tests of the engine there.

set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# Everything that pkg-config finds, but for DPDK.
mkdir "$work/pkgconfig"
pkg-config --variable pc_path pkg-config | tr : '\n' | while read -r folder; do
	for pc in "$folder"/*.pc; do
		[[ ! -e $pc || $pc == */libdpdk* ]] || ln -sf -- "$pc" "$work/pkgconfig/"
	done
done
export PKG_CONFIG_LIBDIR=$work/pkgconfig
unset PKG_CONFIG_PATH
if pkg-config --exists libdpdk; then
	echo "libdpdk is still there: this would prove nothing"
	exit 1
fi

# Who asks for the driver is told what is missing and what can be had without it.
if meson setup "$work/with" "$top" > "$work/log" 2>&1; then
	echo "meson takes a missing libdpdk for no matter"
	exit 1
fi
grep -q -- '-Ddpdk=disabled builds without it' "$work/log" || { cat "$work/log"; exit 1; }

meson setup -Ddpdk=disabled "$work/build" "$top" > "$work/log" || { cat "$work/log"; exit 1; }
ninja -C "$work/build" --quiet
meson test -C "$work/build" --no-rebuild --suite engine --print-errorlogs
