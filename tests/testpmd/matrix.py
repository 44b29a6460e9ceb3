#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""The driver in Debian's unmodified dpdk-testpmd against Debian's virtio_user.

Every forward mode meets every kind of driver, one after the other on the same socket; then
drivers are killed in mid-traffic and the port is stopped and started.

usage: matrix.py PATH-OF-librte_net_pvhost.so
"""

import argparse
import os
import sys
import time

from testpmd import Runner, Testpmd, check

DRIVERS = {
    "packed": "packed_vq=1",
    "packed, in_order": "packed_vq=1,in_order=1",
    "packed, no mergeable": "packed_vq=1,mrg_rxbuf=0",
    "packed, in_order, no mergeable, vectorized":
        "packed_vq=1,in_order=1,mrg_rxbuf=0,vectorized=1",
    "packed, queue_size 96": "packed_vq=1,queue_size=96",
    "split": "packed_vq=0",
    "split, in_order": "packed_vq=0,in_order=1",
    "split, no mergeable": "packed_vq=0,mrg_rxbuf=0",
    "split, no mergeable, vectorized": "packed_vq=0,mrg_rxbuf=0,vectorized=1",
    "split, queue_size 1024": "packed_vq=0,queue_size=1024",
}
PACKETS = 20000


class Matrix:
    def __init__(self, runner):
        self.runner = runner
        self.socket = os.path.join(runner.dir, "port.sock")

    def backend(self, mode):
        return Testpmd(["-d", self.runner.driver, f"--vdev=net_pvhost0,iface={self.socket}"],
                       f"--forward-mode={mode}", on_cpu=0)

    def frontend(self, mode, options="packed_vq=1"):
        vdev = f"--vdev=net_virtio_user0,path={self.socket},{options}"
        return Testpmd([vdev], f"--forward-mode={mode}", on_cpu=1)

    def meets(self, backend, mode, options):
        """Traffic of *mode* between the running backend and a new frontend."""
        peer_mode = {"rxonly": "txonly", "txonly": "rxonly"}.get(mode, "io")
        backend.do("clear port stats all")
        frontend = self.frontend(peer_mode, options)
        try:
            frontend.do("start tx_first" if peer_mode == "io" else "start")
            if mode != "txonly":
                stats = backend.wait_stats(lambda s: s["RX-packets"] > PACKETS)
                check(stats["RX-errors"] == 0, f"backend: {stats}")
            if mode != "rxonly":
                stats = frontend.wait_stats(lambda s: s["RX-packets"] > PACKETS)
                check(stats["RX-errors"] == 0, f"frontend: {stats}")
        finally:
            frontend.quit()

    def mode(self, mode):
        backend = self.backend(mode)
        try:
            backend.do("start")
            for name, options in DRIVERS.items():
                self.runner.run(f"{mode}: {name}", self.meets, backend, mode, options)
        finally:
            backend.quit()

    def format(self):
        """A port that offers no packed rings serves a driver that would like some."""
        backend = Testpmd(["-d", self.runner.driver,
                           f"--vdev=net_pvhost0,iface={self.socket},packed=0"],
                          "--forward-mode=rxonly", on_cpu=0)
        try:
            backend.do("start")
            self.runner.run("packed=0", self.meets, backend, "rxonly", "packed_vq=1")
        finally:
            backend.quit()

    def killed(self, backend, rounds):
        """Drivers die in mid-traffic: the next, of the other ring format, is served, and no
        descriptor is lost."""
        fds = backend.fds()
        for i in range(rounds):
            backend.do("clear port stats all")
            frontend = self.frontend("txonly", f"packed_vq={i % 2}")
            frontend.do("start")
            backend.wait_stats(lambda s: s["RX-packets"] > PACKETS)
            frontend.kill()
        time.sleep(0.2)
        check(backend.fds() == fds, f"{backend.fds()} descriptors, {fds} before")

    def restarted(self, backend):
        """The port is stopped and started under a driver that goes on sending."""
        frontend = self.frontend("txonly")
        try:
            frontend.do("start")
            backend.wait_stats(lambda s: s["RX-packets"] > PACKETS)
            for _ in range(5):
                for command in ("stop", "port stop 0", "port start 0", "clear port stats all",
                                "start"):
                    backend.do(command)
                backend.wait_stats(lambda s: s["RX-packets"] > PACKETS)
        finally:
            frontend.quit()

    def link(self, backend):
        """The link follows the driver."""
        check("Link status: down" in backend.do("show port info 0"), "link up without a driver")
        frontend = self.frontend("rxonly")
        try:
            check("Link status: up" in backend.do("show port info 0"), "link down with a driver")
        finally:
            frontend.quit()
        check("Link status: down" in backend.do("show port info 0"), "link up after the driver")

    def lives(self):
        backend = self.backend("rxonly")
        try:
            backend.do("start")
            self.runner.run("20 drivers killed", self.killed, backend, 20)
            self.runner.run("port stopped and started", self.restarted, backend)
            self.runner.run("link follows the driver", self.link, backend)
        finally:
            backend.quit()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver", help="path of librte_net_pvhost.so")
    args = parser.parse_args()
    runner = Runner(args.driver)
    matrix = Matrix(runner)
    for mode in ("rxonly", "txonly", "io", "macswap"):
        matrix.mode(mode)
    matrix.format()
    matrix.lives()
    return runner.close()


if __name__ == "__main__":
    sys.exit(main())
