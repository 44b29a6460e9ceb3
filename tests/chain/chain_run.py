#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""Run pvchain end to end: ring variants, frame sizes, instances killed, signals, bad options.

Each scenario has a TMPDIR and an environment of its own, by which whatever pvchain leaves behind
is found: files, sockets, processes.
"""

import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120  # seconds a scenario may take
STAGES = {"sender": "txonly", "middle": "io", "receiver": "rxonly"}


class Failure(Exception):
    """A scenario's expectation that did not hold."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


class Run:
    """One pvchain and what belongs to it."""

    def __init__(self, args, options):
        self.tmp = tempfile.TemporaryDirectory(prefix="chain")
        self.mark = "PVCHAIN_RUN=" + self.tmp.name
        self.json = os.path.join(self.tmp.name, "result.json")
        self.work = os.path.join(self.tmp.name, "t")
        self.log = os.path.join(self.tmp.name, "log")
        os.mkdir(self.work)
        command = [args.pvchain, "--pvfwd=" + args.pvfwd, "--backend=" + args.backend,
                   "--json=" + self.json, *options]
        env = dict(os.environ, TMPDIR=self.work, PVCHAIN_RUN=self.tmp.name)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)
        self.deadline = time.monotonic() + LIMIT

    def output(self):
        return read(self.log)

    def wait(self):
        try:
            return self.process.wait(max(0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"still running after {LIMIT} s") from None

    def wait_until(self, condition, what):
        while not condition():
            expect(self.process.poll() is None, f"ended before {what}")
            expect(time.monotonic() < self.deadline, f"no {what} after {LIMIT} s")
            time.sleep(0.05)

    def wait_for_traffic(self):
        """Until the first line of progress that tells of packets."""
        self.wait_until(lambda: any("received" in line and " 0 received" not in line
                                    for line in self.output().splitlines()), "traffic")

    def pids(self):
        """Every process that was started by this run, except zombies."""
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            if self.mark in read(path).split("\0"):
                found.append(int(path.split("/")[2]))
        return found

    def instance(self, stage):
        """The process of a stage."""
        mode = "--forward-mode=" + STAGES[stage]
        for pid in self.pids():
            if mode in read(f"/proc/{pid}/cmdline").split("\0"):
                return pid
        raise Failure(f"no process of the {stage} found")

    def result(self):
        try:
            with open(self.json, encoding="utf-8") as f:
                return json.load(f)
        except (OSError, ValueError) as error:
            raise Failure(f"no result: {error}") from None

    def check_nothing_left(self):
        """A killed process takes a moment to be gone."""
        end = time.monotonic() + 5
        while (self.pids() or os.listdir(self.work)) and time.monotonic() < end:
            time.sleep(0.05)
        expect(not self.pids(), f"processes left behind: {self.pids()}")
        expect(not os.listdir(self.work), f"files left behind: {os.listdir(self.work)}")
        for stage in STAGES:
            left = glob.glob(f"/dev/hugepages/{stage}*") + glob.glob(f"/var/run/dpdk/{stage}")
            expect(not left, f"files left behind: {left}")

    def close(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.tmp.cleanup()


def delivers(*options, **expected):
    """A run that must account for every packet, and report these settings."""
    def scenario(args):
        limited = [o for o in options if o.startswith("--duration")]
        count = [] if limited else [f"--packets={args.packets}"]
        run = Run(args, [*count, *options])
        try:
            status = run.wait()
            expect(status == 0, f"exit status {status}")
            res = run.result()
            sent = res["sent"]
            expect(sent > 0 if limited else sent == args.packets, f"{sent} sent")
            for key in ("forwarded", "received", "verified"):
                expect(res[key] == sent, f"{res[key]} {key} of {sent}")
            for key in ("lost", "reordered", "duplicated", "corrupted", "foreign"):
                expect(res[key] == 0, f"{res[key]} {key}")
            latency = [res["latency_ns"][key] for key in ("p50", "p99", "p999", "max")]
            expect(latency == sorted(latency) and latency[0] > 0, f"latencies {latency}")
            expect(res["mpps"] > 0, "no rate")
            for key, value in expected.items():
                expect(res[key] == value, f"{key} is {res[key]}, not {value}")
            run.check_nothing_left()
        except Failure as failure:
            raise Failure(f"{failure}\n{run.output()}") from None
        finally:
            run.close()
    return scenario


def cut_short(act, status, text):
    """A long run in whose middle act(run) happens."""
    def scenario(args):
        run = Run(args, ["--duration=60"])
        try:
            run.wait_for_traffic()
            begun = time.monotonic()
            act(run)
            got = run.wait()
            expect(got == status, f"exit status {got}, not {status}")
            expect(time.monotonic() - begun < 15, "took longer than 15 s to end")
            expect(text in run.output(), f"the output does not say '{text}'")
            if status > 0:
                expect(run.result()["exit_status"] == status, "wrong exit status in the result")
            run.check_nothing_left()
        except Failure as failure:
            raise Failure(f"{failure}\n{run.output()}") from None
        finally:
            run.close()
    return scenario


def killed(stage):
    return cut_short(lambda run: os.kill(run.instance(stage), signal.SIGKILL), 1,
                     f"the {stage} (pid ")


def signalled(signo, status, text):
    return cut_short(lambda run: run.process.send_signal(signo), status, text)


def interrupt_twice(run):
    """The second signal must not wait for what the first began."""
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    run.process.send_signal(signal.SIGINT)


def signalled_early(args):
    """SIGINT while the instances are still starting."""
    run = Run(args, ["--duration=60"])
    try:
        run.wait_until(lambda: len(run.pids()) >= 3, "instance")
        run.process.send_signal(signal.SIGINT)
        status = run.wait()
        expect(status == 130, f"exit status {status}, not 130")
        run.check_nothing_left()
    except Failure as failure:
        raise Failure(f"{failure}\n{run.output()}") from None
    finally:
        run.close()


def refuses(*cases):
    """Command lines that end in one line which names the culprit, and exit status 2."""
    def scenario(args):
        for options, culprit in cases:
            done = subprocess.run([args.pvchain, "--pvfwd=" + args.pvfwd, *options], timeout=LIMIT,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False)
            told = f"{options}: '{done.stderr.strip()}'"
            expect(done.returncode == 2, f"exit status {done.returncode}, not 2: {told}")
            expect(done.stderr.count("\n") == 1, f"not one line: {told}")
            expect(culprit in done.stderr, f"does not name {culprit}: {told}")
            expect(done.stdout == "", f"printed something: {options}")
    return scenario


def instance_refuses(args):
    """A pvfwd that fails at once: its own words are passed on."""
    run = Run(args, ["--driver=" + args.pvfwd])
    try:
        status = run.wait()
        expect(status == 1, f"exit status {status}, not 1")
        expect("the middle (pid " in run.output(), f"middle not named: {run.output()}")
        expect("\n  middle: " in run.output(), f"its words are missing: {run.output()}")
        run.check_nothing_left()
    finally:
        run.close()


SCENARIOS = {
    "default": delivers(ring="packed", size=64, burst=32, mergeable=True, in_order=False),
    "mergeable-off": delivers("--mergeable=off", mergeable=False),
    "in-order": delivers("--in-order", in_order=True),
    "in-order-mergeable-off": delivers("--in-order", "--mergeable=off"),
    "vectorized": delivers("--in-order", "--mergeable=off", "--vectorized", vectorized=True),
    "split": delivers("--ring=split", ring="split"),
    "split-in-order": delivers("--ring=split", "--in-order"),
    "split-vectorized": delivers("--ring=split", "--mergeable=off", "--vectorized"),
    "split-size-9000": delivers("--ring=split", "--size=9000"),
    "split-size-9000-mergeable-off": delivers("--ring=split", "--size=9000", "--mergeable=off"),
    "split-burst-1": delivers("--ring=split", "--burst=1"),
    "split-queues-2": delivers("--ring=split", "--queues=2"),
    "size-1518": delivers("--size=1518", size=1518),
    "size-9000": delivers("--size=9000", size=9000),
    "size-9000-mergeable-off": delivers("--size=9000", "--mergeable=off"),
    "size-9000-in-order": delivers("--size=9000", "--in-order"),
    "burst-1": delivers("--burst=1", burst=1),
    "burst-512": delivers("--burst=512", burst=512),
    "queue-size-96": delivers("--queue-size=96", queue_size=96),
    "queue-size-4096": delivers("--queue-size=4096", queue_size=4096),
    "queues-2": delivers("--queues=2", queues=2),
    "no-huge": delivers("--no-huge", hugepages=False),
    "duration": delivers("--duration=2s"),
    "kill-sender": killed("sender"),
    "kill-middle": killed("middle"),
    "kill-receiver": killed("receiver"),
    "kill-pvchain": signalled(signal.SIGKILL, -signal.SIGKILL, ""),
    "sigint": signalled(signal.SIGINT, 130, "stopped early"),
    "sigterm": signalled(signal.SIGTERM, 143, "stopped early"),
    "sigint-twice": cut_short(interrupt_twice, 130, "stopped early"),
    "sigint-early": signalled_early,
    "instance-refuses": instance_refuses,
    "bad-options": refuses(
        (["--size=63"], "--size=63"), (["--size=70000"], "--size=70000"),
        (["--size=x"], "--size=x"), (["--burst=0"], "--burst=0"),
        (["--queues=0"], "--queues=0"), (["--queues=300"], "--queues=300"),
        (["--queue-size=31"], "--queue-size=31"), (["--queue-size=32769"], "--queue-size=32769"),
        (["--packets=0"], "--packets=0"), (["--packets=-1"], "--packets=-1"),
        (["--packets=10q"], "--packets=10q"), (["--packets=99999999999G"], "--packets="),
        (["--duration=5d"], "--duration=5d"), (["--duration=0"], "--duration=0"),
        (["--duration=25h"], "--duration=25h"), (["--duration="], "--duration="),
        (["--packets=1", "--duration=1"], "--duration"),
        (["--backend=tap"], "--backend=tap"), (["--ring=round"], "--ring=round"),
        (["--ring=split", "--queue-size=96"], "--queue-size=96"),
        (["--mergeable=maybe"], "--mergeable=maybe"), (["--vectorized"], "--vectorized"),
        (["--json=/nonexistent/file"], "--json=/nonexistent/file"), (["--json="], "--json="),
        (["--pvfwd=/nonexistent"], "--pvfwd=/nonexistent"),
        (["--driver=/nonexistent"], "--driver=/nonexistent"),
        (["--frob"], "--frob"), (["--size"], "--size"), (["stray"], "stray")),
}


def run_all(args, names):
    failed = 0
    for name in names:
        begun = time.monotonic()
        try:
            SCENARIOS[name](args)
            print(f"ok    {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAIL  {name}: {failure}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pvchain", required=True, type=os.path.abspath)
    parser.add_argument("--pvfwd", required=True, type=os.path.abspath)
    parser.add_argument("--backend", choices=("pvhost", "vhost"), default="pvhost")
    parser.add_argument("--packets", type=int, default=100000, help="in each run [100000]")
    parser.add_argument("scenario", nargs="*",
                        help="which to run, of: " + ", ".join(SCENARIOS) + " [all]")
    args = parser.parse_args()
    unknown = [name for name in args.scenario if name not in SCENARIOS]
    if unknown:
        parser.error(f"no such scenario: {', '.join(unknown)}")
    sys.exit(1 if run_all(args, args.scenario or list(SCENARIOS)) else 0)


if __name__ == "__main__":
    main()
