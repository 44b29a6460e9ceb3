#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
#
# Usage: pkg_config.sh BUILD-FOLDER
#
# Installs the build into a folder of its own, compiles app.c as a stranger would, with nothing but
# pkg-config, and runs it.

set -euo pipefail

build=${1:?the build folder}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

meson install -C "$build" --no-rebuild --quiet --destdir "$work/root"
pc=$(find "$work/root" -name libpvhost.pc)
lib=$(dirname -- "$(dirname -- "$pc")")
# The copy stands below $work/root: tell its .pc so.
prefix=$(sed -n 's/^prefix=//p' "$pc")
sed -i "s|^prefix=.*|prefix=$work/root$prefix|" "$pc"
export PKG_CONFIG_PATH=$lib/pkgconfig

# shellcheck disable=SC2046  # the flags are words
cc $(pkg-config --cflags libpvhost) -o "$work/app" "$here/app.c" $(pkg-config --libs libpvhost)
# Twice: nothing may be left behind that is in the second one's way.
for _ in 1 2; do
	LD_LIBRARY_PATH=$lib "$work/app" --no-huge -m 64 --no-pci --no-shconf \
		--file-prefix="pvhost-install-$$" --log-level=error \
		--vdev="net_pvhost0,iface=$work/port.sock" | grep -x "port 0 is driven by net_pvhost"
	[[ ! -e $work/port.sock ]] || { echo "the socket file is left behind"; exit 1; }
done
