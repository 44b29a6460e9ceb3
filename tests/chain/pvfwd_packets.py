#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""What txonly makes and what rxonly finds, through captures. Argument: the binary.

txonly's packets are written by net_pcap and taken apart here; then they are replayed into rxonly,
as they were and with known damage.
"""

import os
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
from pvfwd_harness import Pvfwd, eal, run_tests

PVFWD = sys.argv[1]
TXONLY = "--forward-mode=txonly"
RXONLY = "--forward-mode=rxonly"
HEAD, HEADERS = 64, 42
SEQ_MASK = (1 << 48) - 1


def pattern_table():
    x, table = 0x9E3779B9, bytearray()
    for _ in range(4096 + 65535):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        table.append(x >> 24)
    return bytes(table)


TABLE = pattern_table()


def pattern(flow, seq, length):
    start = (((seq & 0xFFFFFFFF) + flow * 40503) * 2654435761 & 0xFFFFFFFF) >> 20
    return TABLE[start:start + length]


def read_pcap(path):
    packets = []
    with open(path, "rb") as f:
        magic, = struct.unpack("<I", f.read(24)[:4])
        assert magic in (0xA1B2C3D4, 0xA1B23C4D), hex(magic)
        while header := f.read(16):
            captured, length = struct.unpack("<8xII", header)
            assert captured == length
            packets.append(f.read(captured))
    return packets


def write_pcap(path, packets):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for packet in packets:
            f.write(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)


def capture(count, options=()):
    """count packets as txonly sends them into net_pcap."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tx.pcap")
        with Pvfwd(PVFWD, eal(f"net_pcap0,tx_pcap={path}"),
                   [TXONLY, f"--packets={count}", *options]) as p:
            p.event("done")
            final = p.stop()
        packets = read_pcap(path)
        assert final["tx_bytes"] == sum(map(len, packets))
        return packets


def capture_chained(count, options):
    """The same through a virtqueue, for packets of several segments."""
    with tempfile.TemporaryDirectory() as folder:
        path, socket = os.path.join(folder, "tx.pcap"), os.path.join(folder, "s")
        with Pvfwd(PVFWD, eal(f"net_vhost0,iface={socket}", f"net_pcap0,tx_pcap={path}")) as p:
            p.event("start")
            with Pvfwd(PVFWD, eal(f"net_virtio_user0,path={socket},packed_vq=1,queue_size=256"),
                       [TXONLY, f"--packets={count}", *options]) as sender:
                p.until(lambda line: line["tx_packets"] == count)
                sender.stop()
                p.stop()
        return read_pcap(path)


def replay(packets, options=()):
    """What rxonly says about these packets."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rx.pcap")
        write_pcap(path, packets)
        with Pvfwd(PVFWD, eal(f"net_pcap0,rx_pcap={path}"), [RXONLY, *options]) as p:
            p.until(lambda line: line["rx_packets"] == len(packets))
            final = p.stop()
            assert final["rx_bytes"] == sum(map(len, packets))
            return final["verify"]


def forward(packets, mode):
    """What a forwarder makes of these packets."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "rx.pcap"), os.path.join(folder, "tx.pcap")
        write_pcap(before, packets)
        with Pvfwd(PVFWD, eal(f"net_pcap0,rx_pcap={before},tx_pcap={after}"),
                   [f"--forward-mode={mode}"]) as p:
            p.until(lambda line: line["tx_packets"] == len(packets))
            p.stop()
        return read_pcap(after)


def expect(verify, **counts):
    wanted = dict.fromkeys(verify, 0)
    wanted.update(counts)
    assert verify == wanted, f"{verify}, not {wanted}"


def ones_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def check_packet(packet, length):
    """Take one packet apart; its flow and sequence number."""
    assert len(packet) == length
    ethertype, = struct.unpack_from("!H", packet, 12)
    version, total, offset, ttl, protocol = struct.unpack_from("!BxHxxHBB", packet, 14)
    port, _, datagram, checksum = struct.unpack_from("!HHHH", packet, 34)
    magic, flow, _, seq, tsc = struct.unpack_from("<HHHQQ", packet, HEADERS)
    assert packet[0] & 1 == 0 and ethertype == 0x0800
    assert (version, protocol) == (0x45, 17) and ttl > 0 and offset == 0x4000
    assert total == length - 14 and ones_sum(packet[14:34]) == 0xFFFF
    assert datagram == length - 34 and checksum == 0
    assert port == flow and magic == 0x5056 and tsc > 0
    assert packet[HEAD:] == pattern(flow, seq, length - HEAD)
    return flow, seq


def check_capture(packets, length, nb_flows=1):
    flows = {}
    for packet in packets:
        flow, seq = check_packet(packet, length)
        flows.setdefault(flow, []).append(seq)
    assert len(flows) == nb_flows, f"{len(flows)} flows"
    for seqs in flows.values():
        assert len({seq >> 48 for seq in seqs}) == 1
        assert [seq & SEQ_MASK for seq in seqs] == list(range(len(seqs)))


def makes(txpkts, nb_flows=1, options=(), how=capture):
    packets = how(1000, [f"--txpkts={txpkts}", *options])
    assert len(packets) == 1000
    check_capture(packets, sum(map(int, txpkts.split(","))), nb_flows)


def io_changes_nothing():
    packets = capture(500, ["--txpkts=200"])
    assert forward(packets, "io") == packets


def mac_changes_addresses():
    """Source: the port's; destination: testpmd's address of the peer. The rest stays."""
    packets = capture(500, ["--txpkts=200"])
    after = forward(packets, "mac")
    assert [p[12:] for p in after] == [p[12:] for p in packets]
    assert {p[:6] for p in after} == {bytes([2, 0, 0, 0, 0, 0])}
    assert len({p[6:12] for p in after}) == 1 and after[0][6:12] != bytes(6)
    expect(replay(after), received=500, verified=500)


def damage(packets, index, at, bit=0):
    packet = bytearray(packets[index])
    packet[at] ^= 1 << bit
    return [*packets[:index], bytes(packet), *packets[index + 1:]]


def finds_nothing_wrong():
    for length in (64, 65, 500, 1514):
        expect(replay(capture(1000, [f"--txpkts={length}"])), received=1000, verified=1000)


def finds_long_packets_right():
    packets = capture(200, ["--txpkts=9000", "--mbuf-size=10000"])
    expect(replay(packets), received=200, verified=200)
    # in segments of 64 bytes and of odd sizes
    for size in (192, 205, 1000):
        expect(replay(packets, [f"--mbuf-size={size}"] + ["--max-pkt-len=64"] * (size < 1700)),
               received=200, verified=200)


def finds_every_damaged_byte():
    """One packet for each byte, that byte damaged; the first is whole, for the MAC addresses."""
    length = 300
    packets = capture(1 + length, [f"--txpkts={length}"])
    damaged = packets
    for at in range(length):
        damaged = damage(damaged, 1 + at, at, at % 8)
    v = replay(damaged)
    # the two bytes of the magic number make a packet foreign; the stamp's 20 others lose its number
    assert (v["verified"], v["corrupted"], v["foreign"]) == (1, length - 2, 2), v
    assert v["lost"] == 22 and v["duplicated"] == v["reordered"] == 0, v


def finds_every_damaged_stamp_bit():
    packets = capture(1 + 22 * 8)
    damaged = packets
    for i in range(22 * 8):
        damaged = damage(damaged, 1 + i, HEADERS + i // 8, i % 8)
    v = replay(damaged)
    # The check has 16 bits: one damaged stamp in 65,536 looks right, two in one run hardly ever.
    assert v["foreign"] == 16 and v["verified"] + v["corrupted"] == 161, v
    assert v["verified"] in (1, 2), v


def finds_wrong_lengths():
    packets = capture(10, ["--txpkts=200"])
    cut, longer = packets[3][:-1], packets[5] + b"\0"
    expect(replay([*packets[:3], cut, packets[4], longer, *packets[6:]]),
           received=10, verified=8, corrupted=2)
    expect(replay([*packets[:3], packets[3][:63], *packets[4:]]),
           received=9, verified=9, foreign=1, lost=1)


def finds_a_stale_tail():
    """The head of one packet, the rest of the one before, and of one a ring's lap before."""
    packets = capture(600, ["--txpkts=128"])
    for back in (1, 2, 96, 256, 512):
        mixed = packets[599][:HEAD] + packets[599 - back][HEAD:]
        expect(replay([*packets[:599], mixed]), received=600, verified=599, corrupted=1)


def finds_disorder():
    packets = capture(1000)
    expect(replay(packets[:100] + packets[110:]), received=990, verified=990, lost=10)
    expect(replay(packets[10:]), received=990, verified=990, lost=10)
    expect(replay(packets[:-10]), received=990, verified=990)  # nothing above them was seen
    expect(replay(packets[:500] + packets[400:]), received=1100, verified=1100, duplicated=100)
    swapped = [*packets[:10], packets[11], packets[10], *packets[12:]]
    expect(replay(swapped), received=1000, verified=1000, reordered=1)
    expect(replay(packets[:10] + packets[20:] + packets[10:20]),
           received=1000, verified=1000, reordered=10)
    expect(replay(packets[:10] + packets[20:] + packets[10:15] + packets[10:12]),
           received=997, verified=997, reordered=5, lost=5, duplicated=2)


def finds_old_duplicates():
    """Beyond the window of numbers remembered."""
    packets = capture(40000)
    expect(replay(packets + packets[:1]), received=40001, verified=40001, duplicated=1)
    late = replay(packets[1:] + packets[:1])
    assert late["verified"] == 40000 and late["lost"] == 1, late


def tells_flows_apart():
    packets = capture(1600, ["--txonly-multi-flow"])
    expect(replay(packets), received=1600, verified=1600)
    # one packet of the second flow is missing; flows mixed in another order are in order
    expect(replay(packets[:17] + packets[18:]), received=1599, verified=1599, lost=1)
    by_flow = [packets[i] for flow in range(16) for i in range(flow, 1600, 16)]
    expect(replay(by_flow), received=1600, verified=1600)


def lets_a_sender_begin_again():
    first, second = capture(500), capture(300)
    expect(replay(first + second), received=800, verified=800)


def leaves_foreign_packets_alone():
    packets = capture(100)
    strangers = [bytes(60), bytes(1000), os.urandom(42) + bytes(30), b"\xff" * 64]
    expect(replay(packets[:50] + strangers + packets[50:]), received=100, verified=100, foreign=4)


def drops_leave_no_gap():
    """A number that was never sent is not lost: with --drop-when-full the next packet has it."""
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "s")
        with Pvfwd(PVFWD, eal(f"net_vhost0,iface={socket}"), [RXONLY]) as p:
            p.event("start")
            driver = f"net_virtio_user0,path={socket},packed_vq=1,queue_size=64"
            with Pvfwd(PVFWD, eal(driver), [TXONLY, "--drop-when-full", "--packets=200000"]) as tx:
                done = tx.event("done")
                p.until(lambda line: line["rx_packets"] == 200000)
                tx.stop()
            final = p.stop()
        assert done["tx_packets"] == 200000 and done["dropped"] > 0, done
        expect(final["verify"], received=200000, verified=200000)


TESTS = {
    "AP18 64 bytes": lambda: makes("64"),
    "AP18 65 bytes": lambda: makes("65"),
    "AP18 1514 bytes": lambda: makes("1514"),
    "AP18 several flows": lambda: makes("128", 16, ["--txonly-multi-flow"]),
    "AP18 burst 1": lambda: makes("64", options=["--burst=1"]),
    "AP18 burst 512": lambda: makes("64", options=["--burst=512"]),
    "AP07 20,470": lambda: makes("20,470", how=capture_chained),
    "AP07 64,64,64,64": lambda: makes("64,64,64,64", how=capture_chained),
    "AP07 header over many segments": lambda: makes(
        ",".join(["1"] * 70), options=["--txd=256"], how=capture_chained),
    "JM09 9000 bytes in segments": lambda: makes("2000,2000,2000,2000,1000", how=capture_chained),
    "io": io_changes_nothing,
    "mac": mac_changes_addresses,
    "rxonly: whole packets": finds_nothing_wrong,
    "rxonly: long packets, small segments": finds_long_packets_right,
    "rxonly: every damaged byte": finds_every_damaged_byte,
    "rxonly: every damaged bit of the stamp": finds_every_damaged_stamp_bit,
    "rxonly: wrong lengths": finds_wrong_lengths,
    "rxonly: stale tail": finds_a_stale_tail,
    "rxonly: lost, duplicated, reordered": finds_disorder,
    "rxonly: older than the window": finds_old_duplicates,
    "rxonly: flows": tells_flows_apart,
    "rxonly: sender begins again": lets_a_sender_begin_again,
    "rxonly: foreign packets": leaves_foreign_packets_alone,
    "drops leave no gap": drops_leave_no_gap,
}

if __name__ == "__main__":
    sys.exit(run_tests(TESTS))
