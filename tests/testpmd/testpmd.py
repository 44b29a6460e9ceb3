# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""Debian's own dpdk-testpmd, driven over its prompt, for tests of the driver in it."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROMPT = "testpmd> "


class Failure(Exception):
    """A check that did not hold."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def cpu(n):
    """The n-th processor this process may use, going round."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[n % len(cpus)]


class Testpmd:
    """One running instance; its workers share one processor."""

    count = 0

    def __init__(self, eal, options="", on_cpu=0):
        Testpmd.count += 1
        prefix = f"pvhost-test-{os.getpid()}-{Testpmd.count}"
        where = cpu(on_cpu)
        command = ["dpdk-testpmd", f"--lcores=0@{where},1@{where}", "--no-pci", "--no-huge",
                   "-m", "256", f"--file-prefix={prefix}", *eal, "--", "-i",
                   "--total-num-mbufs=8192", *options.split()]
        self.command = " ".join(command)
        self.runtime = f"/var/run/dpdk/{prefix}"
        self.output = ""
        self.tty, tty = pty.openpty()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=tty, stderr=tty,
                                        text=True, bufsize=1)
        os.close(tty)
        self.wait_for(PROMPT)

    def wait_for(self, text, seconds=30):
        """Read on until *text* comes; return what came before it."""
        end = time.monotonic() + seconds
        got = ""
        while text not in got:
            ready, _, _ = select.select([self.tty], [], [], max(0, end - time.monotonic()))
            try:
                data = os.read(self.tty, 65536).decode(errors="replace") if ready else ""
            except OSError:
                data = ""
            if not data:
                raise Failure(f"no \"{text}\" from: {self.command}\n{self.output[-3000:]}")
            got += data
            self.output += data
        return got

    def do(self, command):
        """Give one command at the prompt; return its output."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.wait_for(PROMPT)

    def stats(self, port=0):
        """The port's basic counters, by testpmd's names."""
        text = self.do(f"show port stats {port}")
        return {k: int(v) for k, v in re.findall(r"([RT]X-[a-z]+): *(\d+)", text)}

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def wait_stats(self, done, seconds=20):
        """Wait until *done* holds of the counters; return them."""
        end = time.monotonic() + seconds
        stats = self.stats()
        while not done(stats):
            check(time.monotonic() < end, f"no progress: {stats} of {self.command}")
            time.sleep(0.1)
            stats = self.stats()
        return stats

    def pause(self):
        """Take it off the processors, and wait until it is."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self._reap()

    def quit(self):
        """End it as a user would; a bad exit is a failure."""
        if self.process.poll() is None:
            self.process.stdin.write("quit\n")
            self.process.stdin.flush()
            # Its last words may be more than the terminal holds: take them while it ends.
            end = time.monotonic() + 30
            while self.process.poll() is None and time.monotonic() < end:
                if select.select([self.tty], [], [], 0.05)[0]:
                    try:
                        self.output += os.read(self.tty, 65536).decode(errors="replace")
                    except OSError:
                        break
        try:
            code = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"does not quit: {self.command}\n{self.output[-2000:]}")
        self._reap()
        check(code == 0, f"exit {code}: {self.command}\n{self.output[-3000:]}")

    def _reap(self):
        self.process.wait()
        self.process.stdin.close()
        os.close(self.tty)
        shutil.rmtree(self.runtime, ignore_errors=True)


def private_dir():
    """A new folder none of whose parents is world-writable: EAL loads no driver from elsewhere."""
    return tempfile.mkdtemp(prefix="pvhost-test-", dir=os.environ.get("XDG_RUNTIME_DIR", "/run"))


class Runner:
    """Runs tests in a folder of their own, with a copy of the driver in it, and counts them."""

    def __init__(self, driver):
        self.passed = self.failed = 0
        self.dir = private_dir()
        self.driver = shutil.copy(driver, self.dir)

    def run(self, name, test, *args):
        try:
            test(*args)
        except Failure as failure:
            self.failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
        else:
            self.passed += 1
            print(f"ok {name}", flush=True)

    def close(self):
        """Print the closing line; return the exit status."""
        os.unlink(self.driver)
        left = os.listdir(self.dir)
        if left:
            self.failed += 1
            print(f"FAIL nothing left behind: {left}")
        shutil.rmtree(self.dir)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0
