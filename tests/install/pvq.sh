#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
#
# Usage: pvq.sh BUILD-FOLDER
#
# Installs the build into a folder of its own and looks at lib/pvq as a stranger would: what it
# exports and under which version, and whether its examples compile, with nothing but pkg-config,
# and run, with the shared library and with the static one.

set -euo pipefail

build=${1:?the build folder}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pvq=$here/../../lib/pvq
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fail() { printf '%s\n' "$*"; exit 1; }

meson install -C "$build" --no-rebuild --quiet --destdir "$work/root"
pc=$(find "$work/root" -name pvq.pc)
lib=$(dirname -- "$(dirname -- "$pc")")
# The copy stands below $work/root: tell its .pc so.
prefix=$(sed -n 's/^prefix=//p' "$pc")
sed -i "s|^prefix=.*|prefix=$work/root$prefix|" "$pc"
export PKG_CONFIG_PATH=$lib/pkgconfig

# Every public function stands in pvq.map, and nothing else does.
version=$(sed -n 's/^\(PVQ_[0-9.]*\) {$/\1/p' "$pvq/pvq.map")
sed -nE 's/^\t\t(pvq_\w+);$/\1/p' "$pvq/pvq.map" | sort > "$work/mapped"
nm -g --defined-only "$lib/libpvq.a" | awk 'NF == 3 { print $3 }' | sort > "$work/public"
nm -D --defined-only "$lib/libpvq.so.0" | awk '$2 != "A" { print $3 }' | sort > "$work/exported"
[[ -s $work/public ]] || fail "libpvq.a defines nothing"
diff "$work/mapped" "$work/public" || fail "pvq.map (<) is not what lib/pvq defines (>)"
sed "s/\$/@@$version/" "$work/mapped" | diff - "$work/exported" ||
	fail "libpvq.so exports (>) something else than pvq.map says (<)"

# The driver carries the engine in itself, and shows none of it.
pmd=$(find "$lib" -name librte_net_pvhost.so)
[[ -z $pmd ]] || ! nm -D --defined-only "$pmd" | grep ' pvq_' || fail "${pmd##*/} exports lib/pvq"

# Each header stands alone.
for header in "$work/root$prefix"/include/pvq/*.h; do
	# shellcheck disable=SC2046  # the flags are words
	cc -std=c11 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags pvq) -x c "$header" || fail "${header##*/} does not compile by itself"
done

shopt -s nullglob
built=0
for example in "$pvq"/examples/*.c; do
	name=$(basename -- "$example" .c)
	# shellcheck disable=SC2046
	cc -std=c11 -Wall -Wextra -Werror -O2 -pthread $(pkg-config --cflags pvq) \
		-o "$work/$name.shared" "$example" $(pkg-config --libs pvq)
	# shellcheck disable=SC2046
	cc -std=c11 -Wall -Wextra -Werror -O2 -pthread -static $(pkg-config --static --cflags pvq) \
		-o "$work/$name.static" "$example" $(pkg-config --static --libs pvq)
	echo "$name, shared"
	LD_LIBRARY_PATH=$lib "$work/$name.shared"
	echo "$name, static"
	"$work/$name.static"
	built=$((built + 1))
done
((built > 0)) || fail "lib/pvq/examples holds no example"
