#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""pvfwd's command line and signals: what it prints and how it exits. Argument: the binary."""

import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from pvfwd_harness import Pvfwd, eal, run_tests

PVFWD = sys.argv[1]
NULL = "net_null0"
TXONLY = "--forward-mode=txonly"
RXONLY = "--forward-mode=rxonly"

# The words after "--", and what the one line on stderr must name. None of these starts EAL.
BAD_OPTIONS = [
    ("AP01 stray word", ["nb-cores=2", "--stats-period", "1"], "stray word 'nb-cores=2'"),
    ("stray word at the end", ["--burst=8", "extra"], "stray word 'extra'"),
    ("unknown option", ["--no-such-thing"], "--no-such-thing: no such option"),
    ("unknown short option", ["-q"], "-q: no such option"),
    ("value missing", ["--burst"], "--burst: needs a value"),
    ("value not taken", ["--drop-when-full=1"], "--drop-when-full=1: takes no value"),
    ("mode", ["--forward-mode=macswip"], "--forward-mode=macswip: no such mode"),
    ("burst 0", ["--burst=0"], "--burst=0: too small (1 to 512)"),
    ("burst 513", ["--burst=513"], "--burst=513: too large (1 to 512)"),
    ("burst word", ["--burst=many"], "--burst=many: invalid"),
    ("burst empty", ["--burst="], "--burst=: invalid"),
    ("burst with a unit", ["--burst=32x"], "--burst=32x: invalid"),
    ("AP07 txpkts 70000", [TXONLY, "--txpkts=70000"],
     "--txpkts=70000: segment '70000' is too large"),
    ("AP07 txpkts 0", [TXONLY, "--txpkts=0"], "--txpkts=0: segment '0' is too small"),
    ("AP07 txpkts 13", [TXONLY, "--txpkts=13"], "--txpkts=13: the headers and the stamp need 64"),
    ("AP07 txpkts 63", [TXONLY, "--txpkts=40,23"],
     "--txpkts=40,23: the headers and the stamp need 64"),
    ("AP07 txpkts empty segment", [TXONLY, "--txpkts=64,,64"], "segment '' is invalid"),
    ("AP07 txpkts sum", [TXONLY, "--txpkts=40000,40000"], "a packet of more than 65535 bytes"),
    ("AP07 txpkts 256 segments", [TXONLY, "--txpkts=" + ",".join(["64"] * 256)],
     "too many segments"),
    ("AP07 txpkts very long", [TXONLY, "--txpkts=" + "64," * 2000], "too many segments"),
    ("JM09 segment beyond mbuf", [TXONLY, "--txpkts=9000"], "does not fit an mbuf of 2048"),
    ("JM09 packet beyond max-pkt-len", [TXONLY, "--txpkts=2000,2000", "--max-pkt-len=3000"],
     "--max-pkt-len=3000: --txpkts makes packets of 4000 bytes"),
    ("mbuf-size", ["--mbuf-size=100"], "--mbuf-size=100: too small"),
    ("mbuf-size huge", ["--mbuf-size=64k"], "--mbuf-size=64k: too large"),
    ("AP05 mbufs negative", ["--total-num-mbufs=-1"], "--total-num-mbufs=-1: too small"),
    ("AP05 mbufs beyond 64 bit", ["--total-num-mbufs=99999999999999999999"], "too large"),
    ("AP05 mbufs word", ["--total-num-mbufs=lots"], "--total-num-mbufs=lots: invalid"),
    ("max-pkt-len", ["--max-pkt-len=63"], "--max-pkt-len=63: too small"),
    ("rxq 0", ["--rxq=0"], "--rxq=0: too small"),
    ("io with unequal queues", ["--rxq=2"], "--rxq=2 --txq=1: io needs as many Rx as Tx queues"),
    ("stats-period 0", ["--stats-period=0"], "--stats-period=0: too small"),
    ("packets without txonly", ["--packets=5"],
     "--packets: only with --forward-mode=txonly, not io"),
    ("duration without txonly", [RXONLY, "--duration=5"], "--duration: only with"),
    ("tx-first with txonly", [TXONLY, "--tx-first"], "--tx-first: only with"),
    ("tx-first 0", ["--tx-first=0"], "--tx-first=0: too small"),
    ("report-fd not open", ["--report-fd=99"], "--report-fd=99: Bad file descriptor"),
    ("report-fd not writable", ["--report-fd=0"], "--report-fd=0: not open for writing"),
]

# Words of EAL, words after "--", and what our line must name. These start EAL.
BAD_SETUPS = [
    ("AP05 mbufs 10", [NULL], ["--total-num-mbufs=10"], "--total-num-mbufs=10: too few, at least"),
    ("AP05 mbufs 0", [NULL], ["--total-num-mbufs=0"], "--total-num-mbufs=0: too few, at least"),
    ("AP05 mbufs huge", [NULL], ["--total-num-mbufs=1G"], "cannot make 1073741824 mbufs"),
    ("AP05 mbufs 4G", [NULL], ["--total-num-mbufs=4294967295"], "cannot make 4294967295 mbufs"),
    ("no ports", [], [], "no ports"),
    ("driver refuses its argument", ["net_null0,nonsense=1"], [], "--vdev net_null0,nonsense=1"),
    ("no such driver", ["net_nosuch0"], [], "EAL did not start: No such device"),
    ("too many queues", ["net_ring0"], ["--rxq=200", "--txq=200"],
     "port 0: --rxq=200: the port has"),
    ("too many cores", [NULL], ["--nb-cores=2"], "--nb-cores=2: EAL has 1 lcores"),
    ("AP07 more segments than the port takes", [NULL], [TXONLY, "--txpkts=64,64"],
     "--txpkts of 2 segments: the port takes 1"),
    ("AP07 more segments than the ring", ["net_ring0"],
     [TXONLY, "--txd=32", "--txpkts=" + ",".join(["64"] * 33)],
     "--txpkts of 33 segments: the port takes 32"),
    ("JM09 long packets, small mbufs", [NULL], ["--max-pkt-len=9000"],
     "port 0: cannot receive packets of 9000 bytes in mbufs of 2048"),
    ("attach fails", [NULL], ["--attach=net_virtio_user0,path=/nonexistent/s"],
     "--attach=net_virtio_user0,path=/nonexistent/s"),
]


def refused(words, named):
    with open(os.devnull) as stdin:
        done = subprocess.run([PVFWD, *words], stdin=stdin, capture_output=True, text=True,
                              timeout=30)
    ours = [line for line in done.stderr.splitlines() if line.startswith("pvfwd: ")]
    assert done.returncode == 2, f"exit status {done.returncode}: {done.stderr}"
    assert len(ours) == 1 and named in ours[0], f"expected '{named}' in {ours or done.stderr}"


# Arguments of net_pvhost, and what the one and only line must hold.
BAD_DEVARGS = {
    "unknown": (",iface=/nonexistent/s,foo=1", "unknown argument foo"),
    "iface missing": ("", "iface= is missing"),
    "queues=0": (",iface=/nonexistent/s,queues=0", "queues=0 is too small"),
    "queues=300": (",iface=/nonexistent/s,queues=300", "queues=300 is too large"),
    "path too long": (",iface=/" + 120 * "x", "is longer than the 107 bytes"),
    "folder missing": (",iface=/nonexistent/s", "/nonexistent/s: No such file"),
    "no socket": (",iface=/etc/passwd", "exists and is not a socket"),
}


def refused_devargs(args, named):
    done = subprocess.run([PVFWD, *eal("net_pvhost0" + args), "--"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 2, f"exit status {done.returncode}: {done.stderr}"
    assert done.stderr.count("\n") == 1 and named in done.stderr, \
        f"expected one line with '{named}': {done.stderr}"


def refused_before_eal(options, named):
    begun = time.monotonic()
    refused([*eal(NULL), "--", *options], named)
    assert time.monotonic() - begun < 2


def refused_after_eal(devices, options, named):
    refused([*eal(*devices), "--", *options], named)


def bad_eal_words():
    refused([*eal(NULL), "--no-such-eal-option", "--", "--burst=4"], "EAL did not start")


def stray_eal_word():
    refused([*eal(NULL), "stray", "--"], "stray word 'stray' before --")


def tells(words, text):
    done = subprocess.run([PVFWD, *words], capture_output=True, text=True, timeout=5)
    assert done.returncode == 0 and text in done.stdout and not done.stderr, done


def tells_of_hugepages():
    with Pvfwd(PVFWD, eal(NULL)) as p:
        assert p.event("start")["hugepages"] is False
        p.stop()
        assert p.out.count("no hugepages") == 1


def honours_mbufs():
    with Pvfwd(PVFWD, eal(NULL), ["--total-num-mbufs=8000"]) as p:
        p.until(lambda line: line["tx_packets"] > 0)
        p.stop()


def clean_stop(number):
    with Pvfwd(PVFWD, eal(NULL)) as p:
        p.until(lambda line: line["tx_packets"] > 0)
        final = p.stop(number)
        assert final["rx_packets"] == final["tx_packets"] > 0
        assert "Forward statistics for all ports" in p.out


def second_signal(number):
    """The first asks a sender to stop that waits a second between retries, so a second finds it."""
    with Pvfwd(PVFWD, eal("net_ring0"), [TXONLY, "--txd=32", "--burst-tx-delay=1000000"]) as p:
        p.until(lambda line: line["retries"] > 0)
        p.send(number)
        time.sleep(0.1)
        p.send(number)
        begun = time.monotonic()
        status, _, err = p.end()
        assert status == 128 + number, f"exit status {status}: {err}"
        assert time.monotonic() - begun < 0.5


def ignores(numbers):
    with Pvfwd(PVFWD, eal(NULL)) as p:
        p.event("start")
        for number in numbers:
            p.send(number)
        before = p.event("period")["tx_packets"]
        p.until(lambda line: line["tx_packets"] > before)
        p.stop()


def stdin_at_end(how):
    """Neither an end of file nor a closed descriptor ends forwarding, and nothing is read."""
    if how == "closed":
        words = ["sh", "-c", 'exec "$0" "$@" <&-', PVFWD]
        process = subprocess.Popen([*words, *eal(NULL)], stdout=subprocess.PIPE)
        time.sleep(2)
        assert process.poll() is None
        process.terminate()
        process.communicate(timeout=10)
        assert process.returncode == 0
        return
    read, write = os.pipe()
    os.write(write, b"quit\n")
    os.close(write)
    with Pvfwd(PVFWD, eal(NULL), stdin=subprocess.DEVNULL if how == "null" else read) as p:
        p.until(lambda line: line["time_ms"] > 700)
        p.stop()
    if how == "pipe":
        assert os.read(read, 16) == b"quit\n"
    os.close(read)


def reader_goes_away():
    """A report's reader that dies must not end forwarding."""
    with Pvfwd(PVFWD, eal(NULL)) as p:
        p.event("start")
        os.close(p._read)
        p._read = os.open("/dev/null", os.O_RDONLY)
        time.sleep(0.7)
        assert p.process.poll() is None
        p.send(signal.SIGTERM)
        assert p.end()[0] == 0


def rates_over_wall_time():
    """AP14: nothing received is a rate of 0; a pause lowers the rate, it does not raise it."""
    with Pvfwd(PVFWD, eal("net_ring0"), [RXONLY]) as p:
        assert p.event("period")["mpps"] == 0
        assert p.stop()["mpps"] == 0
    with Pvfwd(PVFWD, eal(NULL), [TXONLY]) as p:
        p.event("period")
        normal = p.event("period")["mpps"]
        p.send(signal.SIGSTOP)
        time.sleep(2)
        p.send(signal.SIGCONT)
        lines = [p.event("period") for _ in range(2)]
        longest = max(lines, key=lambda line: line["time_ms"])
        assert min(line["mpps"] for line in lines) < normal / 3, (normal, lines)
        assert longest["time_ms"] >= 2000
        p.stop()


def limited(options, expected):
    """A limited sender says done, and stays until it is stopped."""
    with Pvfwd(PVFWD, eal(NULL, "net_null1"), [TXONLY, *options]) as p:
        done = p.event("done")
        assert expected is None or done["tx_packets"] == expected, done
        assert p.event("period")["tx_packets"] == done["tx_packets"]
        assert p.process.poll() is None
        assert p.stop()["tx_packets"] == done["tx_packets"]


def column(out, name):
    return [int(part.split()[0]) for part in out.split(name + ":")[1:]]


def ring_fills(options, check):
    """A net_ring port that nobody empties takes what its ring holds, and no more."""
    with Pvfwd(PVFWD, eal("net_ring0"), [TXONLY, "--burst=32", *options]) as p:
        p.event("period")
        p.event("period")
        final = p.stop()
        assert column(p.out, "TX-packets") == [final["tx_packets"]] * 2
        assert column(p.out, "TX-dropped") == [final["dropped"]] * 2
        check(final)


def held(final):
    """Back-pressure: never more sent than accepted, nothing dropped, the rest let go at the end."""
    assert 0 < final["tx_packets"] <= 4096 and final["dropped"] == 0, final
    assert 0 < final["held"] <= 32 and final["retries"] > 0, final


def dropped(final):
    """ST01: every packet is either sent or dropped, once."""
    assert 0 < final["tx_packets"] <= 4096 and final["dropped"] > 0, final
    assert final["held"] == 0 and final["retries"] == 0, final


def retried_then_dropped(final):
    assert final["dropped"] > 0, final
    assert final["retries"] * 32 >= 3 * final["dropped"] > 0, final


def forwards_into_stalled_peer():
    """ST07: received = sent + dropped, in the whole and as the sum of the ports."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        backend = f"net_vhost0,iface={path}"
        driver = f"net_virtio_user0,path={path},packed_vq=1,queue_size=256"
        with Pvfwd(PVFWD, eal(NULL, backend), ["--drop-when-full"]) as p:
            p.event("start")
            # a txonly instance lets its receive ring fill up
            with Pvfwd(PVFWD, eal(driver), [TXONLY, "--packets=100"]) as peer:
                p.until(lambda line: line["rx_packets"] > line["tx_packets"] > 200)
                final = p.stop()
                peer.stop()
            assert final["rx_packets"] == final["tx_packets"] + final["dropped"], final
            assert final["dropped"] > 0 and final["held"] == 0
            for name in ("RX-packets", "RX-dropped", "TX-packets", "TX-dropped"):
                *ports, total = column(p.out, name)
                assert len(ports) == 2 and sum(ports) == total, (name, ports, total)


def workers_forward(nb_cores):
    """Workers that share a CPU; the main lcore has a turn when all others have."""
    options = ["--rxq=2", "--txq=2", f"--nb-cores={nb_cores}"]
    with Pvfwd(PVFWD, eal("net_ring0", lcores="0@0,1@0"), [*options, "--tx-first"]) as p:
        p.until(lambda line: line["rx_packets"] > 1000)
        p.stop()
        assert f"lcores: {nb_cores}" in p.out


def prints_rates():
    with Pvfwd(PVFWD, eal(NULL, "net_null1"), ["--stats-period=1"]) as p:
        p.until(lambda line: line["time_ms"] > 2300)
        p.stop()
        for port in (0, 1):
            lines = [line for line in p.out.splitlines() if line.startswith(f"port {port}: rx ")]
            assert len(lines) == 2 and "dropped 0" in lines[0], p.out


def warns_of_a_stall():
    """A port without a peer takes nothing, which back-pressure alone would not show."""
    with tempfile.TemporaryDirectory() as folder:
        with Pvfwd(PVFWD, eal(f"net_vhost0,iface={folder}/s"), [TXONLY]) as p:
            p.until(lambda line: line["time_ms"] > 5800)
            p.stop()
            assert p.err.count("port 0 has taken no packet for 5 s") == 1, p.err


def socket_vanishes():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        with Pvfwd(PVFWD, eal(f"net_vhost0,iface={path}")) as p:
            p.event("start")
            assert os.path.exists(path)
            p.stop()
            assert not os.path.exists(path)


def single_core_loop():
    """A backend and the driver attached to it, in one process, on one lcore."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        attach = f"--attach=net_virtio_user0,path={path},packed_vq=1,queue_size=256"
        with Pvfwd(PVFWD, eal(f"net_vhost0,iface={path}"), [attach, "--tx-first=2"]) as p:
            p.until(lambda line: line["rx_packets"] > 10000)
            final = p.stop()
            # two streams were fed 64 packets each; all of them still go round
            assert final["tx_packets"] + final["held"] - final["rx_packets"] == 128, final
            assert not os.listdir(folder)


TESTS = {
    **{n: lambda o=o, t=t: refused_before_eal(o, t) for n, o, t in BAD_OPTIONS},
    **{n: lambda d=d, o=o, t=t: refused_after_eal(d, o, t) for n, d, o, t in BAD_SETUPS},
    **{f"devargs: {n}": lambda a=a, t=t: refused_devargs(a, t)
       for n, (a, t) in BAD_DEVARGS.items()},
    "bad EAL option": bad_eal_words,
    "stray EAL word": stray_eal_word,
    "--help": lambda: tells(["--help"], "--forward-mode=MODE"),
    "--help after --": lambda: tells(["-l", "0", "--", "--help"], "--forward-mode=MODE"),
    "--version": lambda: tells(["--version"], "pvfwd "),
    "one line on hugepages": tells_of_hugepages,
    "AP05 mbufs 8000": honours_mbufs,
    "AP10 SIGINT": lambda: clean_stop(signal.SIGINT),
    "AP10 SIGTERM": lambda: clean_stop(signal.SIGTERM),
    "AP10 second SIGINT": lambda: second_signal(signal.SIGINT),
    "AP10 second SIGTERM": lambda: second_signal(signal.SIGTERM),
    "AP10 others ignored": lambda: ignores([signal.SIGWINCH, signal.SIGUSR1]),
    "AP10 stdin closed": lambda: stdin_at_end("closed"),
    "AP10 stdin /dev/null": lambda: stdin_at_end("null"),
    "AP10 stdin not read": lambda: stdin_at_end("pipe"),
    "report reader goes away": reader_goes_away,
    "AP14 rates": rates_over_wall_time,
    "--packets": lambda: limited(["--packets=1000001"], 1000001),
    "--packets fewer than streams": lambda: limited(["--packets=1"], 1),
    "--duration": lambda: limited(["--duration=1"], None),
    "ST01 held": lambda: ring_fills([], held),
    "ST01 dropped": lambda: ring_fills(["--drop-when-full"], dropped),
    "ST01 retried, then dropped": lambda: ring_fills(
        ["--burst-tx-retry-num=3", "--burst-tx-delay=10"], retried_then_dropped),
    "ST07 stalled peer": forwards_into_stalled_peer,
    "workers forward": lambda: workers_forward(1),
    "workers and main lcore forward": lambda: workers_forward(2),
    "--stats-period": prints_rates,
    "stalled port": warns_of_a_stall,
    "socket vanishes": socket_vanishes,
    "single-core loop": single_core_loop,
}

if __name__ == "__main__":
    sys.exit(run_tests(TESTS))
