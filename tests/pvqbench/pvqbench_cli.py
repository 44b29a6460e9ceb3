#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""pvqbench's command line, its cards and its drawings. Argument: the binary.

Nothing here is timed: a run is right when its figures fit together and every buffer came.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree

COMMAND = [*shlex.split(os.environ.get("MESON_EXE_WRAPPER", "")),
           os.path.abspath(sys.argv[1])]
TINY = ["--count=600", "--repeat=3"]

# What each experiment's card must hold: groups, variants of a group, counters.
EXPERIMENTS = {
    "shadow": (["split driver"], 2, ["L1 misses"]),
    "flush": (["burst 1", "burst 4", "burst 32", "burst 64"], 6, []),
    "event-idx": (["split", "packed"], 4,
                  ["kicks", "calls", "spurious calls", "spurious kicks"]),
    "vq-access": (["split device"], 6, ["accesses", "translations"]),
    "wrap-poll": (["split", "packed"], 4, []),
    "limit": (["no payload", "round trip"], None, []),
    "null": (["null"], 2, []),
}

# Words, and what the one line on stderr must name.
BAD_WORDS = [
    ("no experiment", [], "which experiment?"),
    ("unknown experiment", ["shadows"], "shadows: no such experiment"),
    ("experiment empty", [""], ": no such experiment"),
    ("second experiment", ["null", "limit"], "limit: not an option"),
    ("unknown option", ["null", "--rings=4"], "--rings=4"),
    ("unknown short option", ["null", "-q"], "'q'"),
    ("value missing", ["null", "--ring"], "--ring"),
    ("value not taken", ["--list=yes"], "--list"),
    ("ring 0", ["null", "--ring=0"], "--ring=0: too small (1 to 32768)"),
    ("ring beyond virtio's", ["null", "--ring=32769"], "--ring=32769: too large (1 to 32768)"),
    ("ring word", ["null", "--ring=big"], "--ring=big: invalid"),
    ("ring empty", ["null", "--ring="], "--ring=: invalid"),
    ("ring with a unit", ["null", "--ring=1k"], "--ring=1k: invalid"),
    ("split ring of 6", ["shadow", "--ring=6"], "--ring=6: a split ring's size is a power of two"),
    ("all with a ring of 6", ["all", "--ring=6"], "--ring=6: a split ring's size"),
    ("burst 0", ["null", "--burst=0"], "--burst=0: too small"),
    ("burst beyond the ring", ["flush", "--ring=8", "--burst=9"],
     "--burst=9: the ring has 8 slots only"),
    ("count 0", ["null", "--count=0"], "--count=0: too small"),
    ("count negative", ["null", "--count=-1"], "--count=-1: too small"),
    ("count beyond 64 bit", ["null", "--count=99999999999999999999"], "too large"),
    ("repeat 0", ["null", "--repeat=0"], "--repeat=0: too small (1 to 999)"),
    ("repeat 1000", ["null", "--repeat=1000"], "--repeat=1000: too large"),
    ("cpus word", ["null", "--cpus=all"], "--cpus=all: two CPUs, such as 0,1"),
    ("cpus empty", ["null", "--cpus="], "--cpus=: two CPUs"),
    ("cpus three", ["null", "--cpus=0,0,0"], "--cpus=0,0,0: two CPUs"),
    ("cpus half", ["null", "--cpus=0,"], "--cpus=0,: two CPUs"),
    ("cpus beyond any", ["null", "--cpus=99999,0"], "--cpus=99999,0: CPU 99999 is not usable"),
    ("json in no folder", ["null", "--json=/no/such/x.json"],
     "--json=/no/such/x.json: No such file or directory"),
    ("json empty", ["null", "--json="], "--json=: not a file name"),
    ("plot in no folder", ["null", "--plot=/no/such/x.svg"], "--plot=/no/such/x.svg"),
    ("dir for one", ["null", "--dir=/tmp"], "--dir: with all and compare only"),
    ("dir that is none", ["all", "--dir=/no/such"], "--dir=/no/such: No such file"),
    ("dir that is a file", ["all", "--dir=/etc/passwd"], "--dir=/etc/passwd: Not a directory"),
    ("json for all", ["all", "--json=x"], "--json and --plot: with one experiment only"),
    ("compare nothing", ["compare"], "compare: 1 to 16 files"),
    ("compare too much", ["compare"] + ["x"] * 17, "compare: 1 to 16 files"),
    ("compare no file", ["compare", "/no/such.json"], "/no/such.json: "),
]


def run(*words, status=0, cwd=None):
    """Run it; stdout and stderr."""
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=300,
                          cwd=cwd, check=False)
    assert done.returncode == status, f"exit status {done.returncode}: {done.stderr}"
    return done.stdout, done.stderr


def one_line(err):
    """Stderr without the remark that two threads share the only CPU there may be."""
    lines = [line for line in err.splitlines() if "the figures mean little" not in line]
    assert len(lines) == 1, f"not one line: {lines}"
    return lines[0]


def check_bad(words, expected):
    out, err = run(*words, status=2)
    assert out == "", out
    assert expected in one_line(err), f"{err!r} lacks {expected!r}"


def check_words():
    out, err = run("--help")
    assert out.startswith("Usage: pvqbench") and err == ""
    for option in ("--ring", "--burst", "--count", "--cpus", "--repeat", "--json", "--plot",
                   "--dir", "--list", "--help", "--version"):
        assert option in out, option
    out, err = run("--version")
    assert out.split()[0] == "pvqbench" and len(out.split()) == 2 and err == ""
    out, err = run("--list")
    assert [line.split()[0] for line in out.splitlines()] == list(EXPERIMENTS) and err == ""
    assert run("--list", "--ring=8")[0] == out


def check_machine(machine):
    """A card's machine."""
    for key in ("cpu", "arch", "kernel", "compiler", "flags"):
        assert isinstance(machine[key], str) and machine[key], key
    assert machine["page_size"] == os.sysconf("SC_PAGESIZE")
    assert machine["nb_cpus"] == os.cpu_count()
    placement = machine["placement"]
    usable = os.sched_getaffinity(0)
    assert set(placement["cpus"]) <= usable
    assert len(set(placement["cpus"])) == min(2, len(usable))
    for key in ("same_core", "shared_l2", "shared_l3"):
        assert placement[key] in (True, False, None)


def check_variant(variant, first, counters):
    """One variant's figures, beside the first one of its group."""
    assert 0 < variant["min"] <= variant["median"] <= variant["max"]
    assert 0 < variant["ratio_min"] <= variant["ratio"] <= variant["ratio_max"]
    assert abs(variant["mops"] * variant["median"] / 1000 - 1) < 0.001
    assert variant["ticks"] >= 0
    assert list(variant["counters"]) == counters
    if variant is first:
        assert (variant["ratio_min"], variant["ratio"], variant["ratio_max"]) == (1, 1, 1)
    # A pair's ratio is within what the extremes of both allow.
    assert variant["ratio_min"] >= variant["min"] / first["max"] * 0.999
    assert variant["ratio_max"] <= variant["max"] / first["min"] * 1.001


def check_card(card, name, bursts, groups=None):
    """A card of a TINY run, by value."""
    count, repeat = 600, 3
    groups, each, counters = groups or EXPERIMENTS[name][0], *EXPERIMENTS[name][1:]
    assert card["name"] == name and card["unit"] and card["title"]
    parameters = card["parameters"]
    assert (parameters["count"], parameters["repeat"]) == (count, repeat), parameters
    assert parameters["bursts"] == bursts, parameters
    check_machine(card["machine"])
    found = {}
    for variant in card["variants"]:
        found.setdefault(variant["group"], []).append(variant)
    assert list(found) == groups, list(found)
    for variants in found.values():
        assert each is None or len(variants) == each, variants
        assert len({variant["name"] for variant in variants}) == len(variants)
        for variant in variants:
            check_variant(variant, variants[0], counters)
    if name == "flush":
        unsafe = {v["name"] for v in card["variants"] if v["unsafe"]}
        assert unsafe == {"one barrier, interleaved, head flags last", "whole cache lines"}
    else:
        assert not any(v["unsafe"] for v in card["variants"])


def check_svg(path, texts, bars):
    """A drawing: well-formed, without a script, and all of it there."""
    root = xml.etree.ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == space + "svg"
    kinds = {element.tag for element in root.iter()}
    assert kinds <= {space + kind for kind in ("svg", "style", "rect", "text", "line")}, kinds
    words = [element.text for element in root.iter(space + "text")]
    for text in texts:
        assert any(text in word for word in words), f"{text!r} is not drawn"
    drawn = [e for e in root.iter(space + "rect") if e.get("class") in ("bar", "base")]
    assert len(drawn) == bars, f"{len(drawn)} bars, not {bars}"
    width = float(root.get("width"))
    for bar in drawn:
        assert 0 <= float(bar.get("width")) < width


def check_run(name):
    """One experiment: table, card, drawing."""
    with tempfile.TemporaryDirectory() as folder:
        card_file, plot = f"{folder}/c.json", f"{folder}/p.svg"
        out, _ = run(name, *TINY, "--ring=64", "--burst=16", f"--json={card_file}",
                     f"--plot={plot}")
        card = json.loads(pathlib.Path(card_file).read_text(encoding="utf-8"))
        # A burst that is asked for is the only one.
        check_card(card, name, [16], ["burst 16"] if name == "flush" else None)
        assert card["parameters"]["ring"] == 64
        assert out.count("1.000 (1.000-1.000)") >= len({v["group"] for v in card["variants"]})
        for variant in card["variants"]:
            line = next(l for l in out.splitlines() if l.startswith("  " + variant["name"] + " "))
            assert ("(unsafe)" in line) == variant["unsafe"]
        assert "\npublished: " in out and card["title"] in out
        for counter in EXPERIMENTS[name][2]:
            missing = any(v["counters"][counter] is None for v in card["variants"])
            assert missing == (f"{counter}: counters not available here" in out)
        check_svg(plot, [card["title"], "ratio 1.000", card["unit"]]
                  + [v["name"] for v in card["variants"]], len(card["variants"]))


def check_all():
    """All of them into a folder, on stdout, with their progress on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = run("all", *TINY, f"--dir={folder}")
        assert sorted(os.listdir(folder)) == sorted(
            f"{name}.{kind}" for name in EXPERIMENTS for kind in ("json", "svg"))
        for name in EXPERIMENTS:
            assert f"{name}: " in err and f"{name}: " in out
            text = pathlib.Path(folder, f"{name}.json").read_text(encoding="utf-8")
            check_card(json.loads(text), name, [1, 4, 32, 64] if name == "flush" else [32])
            check_svg(f"{folder}/{name}.svg", [name + ": "], len(json.loads(text)["variants"]))
        assert "published: " in out


def check_small_rings():
    """Every experiment on rings as small as there are, and the current folder as the default."""
    for ring in ("1", "2", "4"):
        with tempfile.TemporaryDirectory() as folder:
            run("all", "--count=300", "--repeat=1", f"--ring={ring}", cwd=folder)
            assert len(os.listdir(folder)) == 2 * len(EXPERIMENTS)
            text = pathlib.Path(folder, "flush.json").read_text(encoding="utf-8")
            bursts = json.loads(text)["parameters"]["bursts"]
            assert bursts == [b for b in (1, 4, 32, 64) if b <= int(ring)]
    run("flush", "--ring=5", "--count=300", "--repeat=1")  # a packed ring may be of any size


def check_counts():
    """What does not depend on time is the same always, and falls step by step."""
    with tempfile.TemporaryDirectory() as folder:
        run("vq-access", *TINY, f"--json={folder}/a.json")
        text = pathlib.Path(folder, "a.json").read_text(encoding="utf-8")
        counters = [v["counters"] for v in json.loads(text)["variants"]]
    accesses = [c["accesses"] for c in counters]
    walks = [c["translations"] for c in counters]
    # 15 of ring fields an element at first, and one walk more for the buffer.
    assert (accesses[0], walks[0]) == (15, 16), counters
    assert (accesses[1], walks[1]) == (13, 14), counters
    # One read of the index serves a burst of 32; a store less with the combined element.
    assert [round(a - accesses[3], 6) for a in accesses[2:5]] == [1, 0, 0], counters
    assert 9 < accesses[3] < 9.1 and walks[4] == walks[5] == 0, counters
    assert 4 < accesses[5] < 4.2, counters


def check_notifications():
    """Without a wake-up nothing moves; the device is never woken more than it was kicked."""
    with tempfile.TemporaryDirectory() as folder:
        run("event-idx", "--count=5000", "--repeat=1", "--ring=8", f"--json={folder}/a.json")
        text = pathlib.Path(folder, "a.json").read_text(encoding="utf-8")
    for variant in json.loads(text)["variants"]:
        counters = variant["counters"]
        assert 0 < counters["kicks"] <= 5000, variant  # the first buffer, at the least
        # A driver that always finds something used, on a busy machine, is never called.
        assert 0 <= counters["calls"] <= 5000, variant
        assert counters["spurious calls"] <= counters["calls"], variant
        assert counters["spurious kicks"] <= counters["kicks"], variant


def check_one_cpu():
    """Both threads on one CPU: it says so, and still runs."""
    cpu = min(os.sched_getaffinity(0))
    for name in ("shadow", "event-idx", "limit"):
        _, err = run(name, *TINY, f"--cpus={cpu}")
        assert f"both threads share CPU {cpu}: the figures mean little" in err
    _, err = run("wrap-poll", *TINY, f"--cpus={cpu},{cpu}")  # has one thread anyway
    assert err == "", err


def check_unwritable():
    """A card that cannot be written: said, and exit 1."""
    _, err = run("null", *TINY, "--json=/dev/full", status=1)
    assert "/dev/full: No space left on device" in one_line(err)
    _, err = run("null", *TINY, "--plot=/dev/full", status=1)
    assert "/dev/full: No space left on device" in one_line(err)


def other_machine(card):
    """The same card from elsewhere, with what would spoil a drawing if it were let."""
    card["machine"].update(cpu="Neoverse <N1> & more", arch="aarch64", kernel="6.1.0-arm64")
    for variant in card["variants"]:
        for key in ("median", "min", "max"):
            variant[key] = 3 * variant[key]
    return card


def check_compare():
    """Cards of two machines and two experiments."""
    with tempfile.TemporaryDirectory() as folder:
        cards = []
        for name in ("limit", "wrap-poll"):
            file = f"{folder}/{name}.json"
            run(name, *TINY, f"--json={file}")
            cards.append(json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
        pathlib.Path(folder, "arm.json").write_text(
            json.dumps(other_machine(json.loads(json.dumps(cards[0])))), encoding="utf-8")
        out, err = run("compare", f"{folder}/limit.json", f"{folder}/wrap-poll.json",
                       f"{folder}/arm.json", f"--dir={folder}")
        assert err == ""
        tables = out.split("limit: ")[1].split("wrap-poll: ")
        own = cards[0]["machine"]
        assert f"A: {own['cpu']} ({own['arch']}, " in tables[0]
        assert "B: Neoverse <N1> & more (aarch64, " in tables[0]
        assert "B: " not in tables[1]
        for variant in cards[0]["variants"]:
            line = next(l for l in tables[0].splitlines() if l.startswith("  " + variant["name"]))
            assert f"{variant['median']:.2f} (" in line
            assert f"{3 * variant['median']:.2f} (" in line, line
        check_svg(f"{folder}/compare-limit.svg", ["B: Neoverse <N1> & more", f"A: {own['cpu'][:30]}"],
                  2 * len(cards[0]["variants"]))
        check_svg(f"{folder}/compare-wrap-poll.svg", ["A: "], len(cards[1]["variants"]))


def spoil(card, way):
    """Cards that are none."""
    if way == "name":
        card["name"] = "../limit"
    elif way == "variants":
        card["variants"] = []
    elif way == "many":
        card["variants"] *= 40
    elif way == "median":
        card["variants"][0]["median"] = card["variants"][0]["max"] * 2
    elif way == "text":
        card["variants"][0]["min"] = "small"
    elif way == "long":
        card["machine"]["cpu"] = "x" * 200
    elif way == "control":
        card["machine"]["cpu"] = "x\x01y"
    elif way == "machine":
        del card["machine"]
    return card


def check_compare_bad():
    """Each names the file and what is wrong with it."""
    ways = {"name": '"name"', "variants": '"variants"', "many": '"variants"',
            "median": '"median" is not between', "text": '"min"', "long": '"cpu" is too long',
            "control": '"cpu" has a control character', "machine": '"cpu" is missing'}
    with tempfile.TemporaryDirectory() as folder:
        file, bad = f"{folder}/a.json", pathlib.Path(folder, "bad.json")
        run("limit", *TINY, f"--json={file}")
        text = pathlib.Path(file).read_text(encoding="utf-8")
        for way, expected in ways.items():
            bad.write_text(json.dumps(spoil(json.loads(text), way)), encoding="utf-8")
            out, err = run("compare", file, str(bad), f"--dir={folder}", status=2)
            assert out == "" and f"{bad}: " in err and expected in one_line(err), (way, err)
        for content in ("", "{", "[]", "null", "\xff", text[:200]):
            bad.write_text(content, encoding="latin-1")
            _, err = run("compare", str(bad), f"--dir={folder}", status=2)
            assert f"{bad}: " in one_line(err)
        assert sorted(os.listdir(folder)) == ["a.json", "bad.json"]


def tests():
    """All tests by name."""
    yield "words", check_words
    for name, words, expected in BAD_WORDS:
        yield f"bad: {name}", lambda words=words, expected=expected: check_bad(words, expected)
    for name in EXPERIMENTS:
        yield f"run {name}", lambda name=name: check_run(name)
    yield "all", check_all
    yield "small rings", check_small_rings
    yield "counted accesses", check_counts
    yield "notifications", check_notifications
    yield "one CPU", check_one_cpu
    yield "unwritable", check_unwritable
    yield "compare", check_compare
    yield "compare, no cards", check_compare_bad


def main():
    """Call each; print the count; the exit status."""
    failed = 0
    for count, (name, test) in enumerate(tests(), 1):
        try:
            test()
            print(f"ok   {name}", flush=True)
        except Exception as error:  # a test that breaks is a test that fails
            failed += 1
            print(f"FAIL {name}: {error}", flush=True)
            traceback.print_exc()
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
