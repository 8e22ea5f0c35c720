# SPDX-License-Identifier: Apache-2.0
"""Profiles whose stacks are known, as bytes of pprof, and the pushes that carry them."""
import base64
import gzip
import json
import sys
import zlib
from typing import NamedTuple

import pytest

from . import paths, privileges

pytest.importorskip("google.protobuf", reason="python3-protobuf is not installed")
if privileges.why_no_tool("protoc"):
    pytest.skip(privileges.why_no_tool("protoc"), allow_module_level=True)
sys.path.append(str(paths.TESTS / "pyroscope"))
import protos  # noqa: E402

PUSH = "/push.v1.PusherService/Push"
CPU = [("cpu", "nanoseconds")]
MEMORY = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
TICK = 10_000_000


class Frame(NamedTuple):
    """One function call; `inlined` are calls inside of it, outermost first, that share its place in the program."""
    name: str
    file: str = ""
    line: int = 0
    inlined: tuple = ()


class Pprof:
    """A profile that grows by stacks."""

    def __init__(self, time_ms, types=tuple(CPU), period=("cpu", "nanoseconds", TICK), binary="/usr/bin/demo"):
        self.message = protos.pprof.Profile(time_nanos=time_ms * 1_000_000, duration_nanos=10**10)
        self._strings, self._functions, self._locations = {}, {}, {}
        self._string("")
        for kind, unit in types:
            self.message.sample_type.add(type=self._string(kind), unit=self._string(unit))
        self.message.period_type.type, self.message.period_type.unit = map(self._string, period[:2])
        self.message.period = period[2]
        self.message.mapping.add(id=1, memory_start=0x400000, memory_limit=0x800000, filename=self._string(binary),
                                 build_id=self._string(f"{zlib.crc32(binary.encode()):08x}"), has_functions=True, has_filenames=True,
                                 has_line_numbers=True)

    def _string(self, text):
        if text not in self._strings:
            self._strings[text] = len(self._strings)
            self.message.string_table.append(text)
        return self._strings[text]

    def _function(self, frame):
        key = frame[:2]
        if key not in self._functions:
            self._functions[key] = len(self._functions) + 1
            self.message.function.add(id=self._functions[key], name=self._string(frame.name), system_name=self._string("_Z" + frame.name),
                                      filename=self._string(frame.file), start_line=max(frame.line - 3, 0))
        return self._functions[key]

    def _location(self, frame):
        if frame not in self._locations:
            self._locations[frame] = number = len(self._locations) + 1
            location = self.message.location.add(id=number, mapping_id=1, address=0x400000 + 16 * number)
            for one in reversed((frame, *frame.inlined)):
                location.line.add(function_id=self._function(one), line=one.line)
        return self._locations[frame]

    def add(self, stack, *values, **labels):
        """A stack from the root on, of names parted by blanks or of frames; labels become those of the sample."""
        frames = [Frame(name) for name in stack.split()] if isinstance(stack, str) else stack
        sample = self.message.sample.add(location_id=[self._location(f) for f in reversed(frames)], value=values)
        for key, value in labels.items():
            if isinstance(value, int):
                sample.label.add(key=self._string(key), num=value)
            else:
                sample.label.add(key=self._string(key), str=self._string(value))
        return self

    def bytes(self):
        return gzip.compress(self.message.SerializeToString(), mtime=0)


def push_proto(*series):
    """Body of a push of (labels, profile bytes …)."""
    request = protos.push.PushRequest()
    for labels, *profiles in series:
        one = request.series.add()
        for name, value in sorted(labels.items()):
            one.labels.add(name=name, value=value)
        for raw in profiles:
            one.samples.add(raw_profile=raw)
    return request.SerializeToString()


def push_json(*series):
    return json.dumps({"series": [{"labels": [{"name": n, "value": v} for n, v in sorted(labels.items())],
                                   "samples": [{"rawProfile": base64.b64encode(raw).decode()} for raw in profiles]}
                                  for labels, *profiles in series]}).encode()


def cpu_labels(service, **more):
    return {"__name__": "process_cpu", "service_name": service, **more}


def _shop(begin):
    """Two hosts, one minute apart but for some milliseconds; paths that share their beginnings; times that are on no round second."""
    for number in range(12):
        for h, host in enumerate(("alpha", "beta")):
            p = Pprof(begin + number * 61_000 + h * 1_700 + number * 17)
            p.add("main serve parse", 3 * TICK * (number + 1))
            p.add("main serve parse json", 2 * TICK).add("main serve", 1 * TICK * (h + 1)).add("main serve render html", 7 * TICK)
            p.add("main idle", 1 * TICK).add("start misc", (number + 1) * TICK)
            yield cpu_labels("shop", host=host, region="north" if h else "süd", tier="web"), p.bytes()


def _recursion(begin):
    """Recursion, inlined calls, one name in two files and on two lines."""
    inlined = Frame("outer", "outer.c", 10, (Frame("middle", "outer.c", 20), Frame("inner", "inner.h", 30)))
    for number in range(3):
        p = Pprof(begin + 125_000 + number * 240_000, binary="/opt/tree walker")
        for depth in range(1, 6):
            p.add("main " + "walk " * depth + "leaf", depth * TICK)
        p.add("main walk turn walk", 4 * TICK).add("main walk turn walk leaf", 5 * TICK)
        p.add([Frame("main", "main.c", 5), inlined, Frame("leaf", "leaf.c", 7)], 11 * TICK)
        p.add([Frame("main", "main.c", 6), inlined], 13 * TICK)
        p.add([Frame("main", "main.c", 6), Frame("leaf", "another.c", 8)], 17 * TICK)
        p.add([Frame("main", "main.c", 6), Frame("leaf", "another.c", 9)], 19 * TICK)
        yield cpu_labels("walker", host="alpha", tier="batch"), p.bytes()


def _memory(begin):
    """Four types in one profile, two of them zero in some samples."""
    period = ("space", "bytes", 524_288)
    for number in range(4):
        p = Pprof(begin + 90_000 + number * 300_000, MEMORY, period)
        p.add("main make buffer", 100 + number, 409_600, 10, 40_960).add("main make list", 50, 3_200, 0, 0)
        p.add("main load", 1, 1 << 30, 1, 1 << 30)
        yield {"__name__": "memory", "__delta__": "false", "service_name": "shop", "host": "alpha", "tier": "web"}, p.bytes()
    p = Pprof(begin + 400_000, [("goroutine", "count")], ("goroutine", "count", 1))
    p.add("main wait", 40).add("main wait select", 2)
    yield {"__name__": "goroutine", "service_name": "shop", "host": "alpha", "tier": "web"}, p.bytes()


def _hostile(begin):
    """Names that need care: other scripts, quotes, separators, markup; labels whose values do."""
    p = Pprof(begin + 600_123)
    for value, stack in enumerate((["größe", "日本語", "🦀"], ["a;b", 'say "hi"', "back\\slash"], ["<script>alert(1)</script>", "&amp;", "%s"],
                                   ["std::vector<int, std::allocator<int> >::push_back(int const&)"], ["", "nameless parent"],
                                   ["line\nbreak", "tab\there"]), 1):
        p.add([Frame(name) for name in stack], value * TICK)
    yield cpu_labels("größe", host='q"uo\\te', note="<b>&amp;</b>", tier="a.b*c"), p.bytes()


def _threads(begin):
    """Labels of samples split a profile into series; numbers do not. A label of the series wins."""
    for number in range(2):
        p = Pprof(begin + 700_000 + number * 60_000)
        for thread in ("io", "gc", "main"):
            p.add(f"start {thread}_loop", (number + 2) * TICK, thread=thread, bytes=number + 1)
            p.add("start common", TICK, thread=thread, host="not this")
        p.add("start unlabelled", 3 * TICK)
        yield cpu_labels("threads", host="gamma"), p.bytes()


def _swarm(begin):
    """Many series of one profile each; all values differ."""
    for number in range(110):
        p = Pprof(begin + 800_000 + number * 9_000)
        p.add(f"main run task_{number % 10}", (number + 1) * TICK).add("main run wait", TICK)
        yield cpu_labels("swarm", pod=f"pod-{number:03}", zone=f"z{number % 3}"), p.bytes()


def _wide(begin):
    """Enough nodes to be pruned, ties among them."""
    p = Pprof(begin + 1_900_000)
    for a in range(8):
        for b in range(12):
            p.add(f"main branch_{a} twig_{b}", (a * b % 7 + 1) * TICK)
            p.add(f"main branch_{a} twig_{b} leaf_{b % 4}", (a + b) % 5 * TICK + 1)
    yield cpu_labels("wide", host="beta"), p.bytes()


def _deep(begin):
    p = Pprof(begin + 1_930_000)
    p.add(" ".join(f"f{n}" for n in range(900)), TICK)
    yield cpu_labels("deep", host="beta"), p.bytes()


def _other(begin):
    """The name of what is pruned, as a function's."""
    yield cpu_labels("other", host="beta"), Pprof(begin + 1_940_000).add("main other inner", 3 * TICK).add("main other", TICK).bytes()


SPAN_IDS = ["00000000000000ab", "1122334455667788", "fedcba9876543210"]


def _spans(begin):
    """Samples that belong to spans of traces, to none, and to what is no id."""
    for number in range(2):
        p = Pprof(begin + 1_950_000 + number * 30_000)
        p.add("main serve", TICK).add("main serve", 2 * TICK, span_id=SPAN_IDS[0]).add("main wait", 7 * TICK, profile_id=SPAN_IDS[1])
        p.add("main serve parse", 3 * TICK, span_id=SPAN_IDS[0])
        p.add("main serve parse", (5 + number) * TICK, span_id=SPAN_IDS[1].upper()).add("main bad", 11 * TICK, span_id="xyz")
        yield cpu_labels("spans", host="beta"), p.bytes()


def everything(begin_ms):
    """[(labels, pprof bytes)] of 35 minutes from begin_ms on; no two of a series at one time."""
    return [push for part in (_shop, _recursion, _memory, _hostile, _threads, _swarm, _wide, _deep, _other, _spans) for push in part(begin_ms)]
