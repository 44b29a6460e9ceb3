#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""net_pvhost beside DPDK's net_vhost, each direction by itself, in alternating slices.

Backend and driver are Debian's dpdk-testpmd on a processor each; the driver is virtio_user. Both pairs of processes run; one is paused while the other has its slice, and each two
slices give one ratio. Where memory lies differs from start to start, and so does the speed: all
processes are started afresh several times, in turns the one first and the other.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testpmd"))
from testpmd import Failure, Testpmd, private_dir  # noqa: E402

# direction: (backend's mode, driver's mode, whose received packets are counted)
DIRECTIONS = {
    "dequeue": ("rxonly", "txonly", "backend"),
    "enqueue": ("txonly", "rxonly", "frontend"),
}


class Pair:
    """A backend and its driver, forwarding whenever they are not paused."""

    def __init__(self, args, directory, backend, direction):
        socket = os.path.join(directory, backend + ".sock")
        device_mode, driver_mode, counted = DIRECTIONS[direction]
        eal = [f"--vdev=net_{backend}0,iface={socket}"]
        if backend == "pvhost":
            eal = ["-d", args.driver, *eal]
        options = f"--txpkts={args.size} --burst={args.burst} --forward-mode="
        packed = int(args.ring == "packed")
        peer = [f"--vdev=net_virtio_user0,path={socket},packed_vq={packed}{args.peer}"]
        self.device = Testpmd(eal, options + device_mode, on_cpu=0)
        try:
            self.driver = Testpmd(peer, options + driver_mode, on_cpu=1)
        except Failure:
            self.device.quit()
            raise
        self.counted = self.device if counted == "backend" else self.driver
        self.device.do("start")
        self.driver.do("start")
        self.pause()

    def pause(self):
        self.driver.pause()
        self.device.pause()

    def resume(self):
        self.device.resume()
        self.driver.resume()

    def rate(self, args):
        """Million packets a second that are received, over one slice."""
        self.resume()
        time.sleep(args.warmup)
        begin, first = time.monotonic(), self.counted.stats()["RX-packets"]
        time.sleep(args.slice)
        end, last = time.monotonic(), self.counted.stats()["RX-packets"]
        self.pause()
        return (last - first) / (end - begin) / 1e6

    def quit(self):
        self.resume()
        self.driver.quit()
        self.device.quit()


def one_start(args, directory, direction, order):
    """The slices of one start: a list of (pvhost, vhost)."""
    first = Pair(args, directory, order[0], direction)
    try:
        second = Pair(args, directory, order[1], direction)
        try:
            slices = [{order[0]: first.rate(args), order[1]: second.rate(args)}
                      for _ in range(args.pairs)]
        finally:
            second.quit()
    finally:
        first.quit()
    return [(s["pvhost"], s["vhost"]) for s in slices]


def measure(args, directory, direction):
    pairs = []
    for start in range(args.starts):
        order = ("vhost", "pvhost") if start % 2 else ("pvhost", "vhost")
        pairs += one_start(args, directory, direction, order)
    ratios = [a / b for a, b in pairs]
    result = {"direction": direction, "pairs": pairs}
    for name, values in (("pvhost", [a for a, _ in pairs]), ("vhost", [b for _, b in pairs]),
                         ("ratio", ratios)):
        result[name] = {"median": statistics.median(values), "min": min(values),
                        "max": max(values)}
        unit = "" if name == "ratio" else " Mpps"
        print(f"{direction:8} {name:7} median {result[name]['median']:.2f} "
              f"min {min(values):.2f} max {max(values):.2f}{unit}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver", help="path of librte_net_pvhost.so")
    parser.add_argument("--starts", type=int, default=4, help="of all processes")
    parser.add_argument("--pairs", type=int, default=5, help="of slices, in each start")
    parser.add_argument("--size", type=int, default=64, help="bytes of a packet")
    parser.add_argument("--burst", type=int, default=32)
    parser.add_argument("--ring", choices=("packed", "split"), default="packed")
    parser.add_argument("--slice", type=float, default=0.5, help="seconds measured")
    parser.add_argument("--warmup", type=float, default=0.1, help="seconds before that")
    parser.add_argument("--peer", default="", help="more arguments of virtio_user, \",k=v\"")
    parser.add_argument("--direction", choices=DIRECTIONS, action="append")
    parser.add_argument("--json", help="write the figures to this file, too")
    args = parser.parse_args()
    directory = private_dir()
    args.driver = shutil.copy(args.driver, directory)
    try:
        results = [measure(args, directory, d) for d in args.direction or DIRECTIONS]
    except Failure as failure:
        print(f"compare: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(directory)
    if args.json:
        with open(args.json, "w", encoding="ascii") as out:
            json.dump({"machine": platform.processor() or platform.machine(), "ring": args.ring,
                       "size": args.size, "burst": args.burst, "results": results}, out, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
