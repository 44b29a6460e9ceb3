# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""Running pvfwd for the tests beside this file: the standard library only."""

import itertools
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback

_serial = itertools.count()


def eal(*devices, lcores="0", memory=128):
    """EAL's words: one lcore, no hugepages, a file prefix of its own."""
    words = ["--lcores", lcores, "--no-huge", "-m", str(memory), "--no-pci",
             f"--file-prefix=pvfwd-test-{os.getpid()}-{next(_serial)}"]
    for device in devices:
        words += ["--vdev", device]
    return words


class Pvfwd:
    """One running instance; its report lines are read through a pipe."""

    def __init__(self, path, eal_words, options=(), stdin=subprocess.DEVNULL, report=True):
        self._read, write = os.pipe()
        fds = (write,) if report else ()
        words = [f"--report-fd={write}"] if report else []
        self.process = subprocess.Popen(
            [path, *eal_words, "--", *options, *words], stdin=stdin, pass_fds=fds,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(write)
        self._buffer = b""
        self.last = None

    def event(self, name, timeout=20):
        """Read report lines up to the event and return it."""
        deadline = time.monotonic() + timeout
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                self.last = json.loads(line)
                if self.last["event"] == name:
                    return self.last
            if not select.select([self._read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"no {name} event within {timeout} s")
            data = os.read(self._read, 65536)
            assert data, f"it ended before {name}: {self.end()}"
            self._buffer += data

    def until(self, condition, timeout=20):
        """Read report lines until condition(line) holds; return that line."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            line = self.event("period", timeout)
            if condition(line):
                return line
        raise AssertionError(f"not so within {timeout} s; last {self.last}")

    def send(self, number):
        self.process.send_signal(number)

    def end(self, timeout=20):
        """Wait for the end; exit status, stdout, stderr."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err

    def stop(self, number=signal.SIGTERM):
        """Stop it cleanly; the final report."""
        self.send(number)
        final = self.event("final")
        status, out, err = self.end()
        assert status == 0, f"exit status {status}: {err}"
        self.out, self.err = out, err
        return final

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        os.close(self._read)


def run_tests(tests):
    """Call each of {name: function}; print the count; the exit status."""
    failed = 0
    for name, test in tests.items():
        try:
            test()
            print(f"ok   {name}")
        except Exception as error:  # a test that breaks is a test that fails
            failed += 1
            print(f"FAIL {name}: {error}")
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        sys.stdout.flush()
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0
