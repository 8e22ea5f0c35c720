# SPDX-License-Identifier: Apache-2.0
"""A reader of gzip'd pprof that knows nothing of the agent's own encoder: fields by number from the public profile.proto."""
import gzip
from typing import NamedTuple


class Sample(NamedTuple):
    frames: tuple  # function names from the root to the leaf
    values: tuple
    labels: dict
    places: tuple  # (function, file, line) from the root to the leaf
    columns: tuple  # of each place


class Profile(NamedTuple):
    sample_types: list  # [(type, unit)]
    period_type: tuple
    period: int
    time_nanos: int
    duration_nanos: int
    samples: list
    strings: list
    functions: set  # (function, file, line at which it begins)
    mappings: dict  # function → {(file, build id)} of the mappings that it is in

    @property
    def total(self):
        return sum(s.values[0] for s in self.samples)


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(field number, int or bytes) in the order of the message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        else:
            raise AssertionError(f"wire type {kind}")
        assert at <= len(data), "message ends in the middle of a field"
        yield key >> 3, value


def message(data):
    """field number → all its values."""
    result = {}
    for number, value in fields(data):
        result.setdefault(number, []).append(value)
    return result


def _one(m, number, otherwise=0):
    return m.get(number, [otherwise])[-1]


def _signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def _numbers(m, number):
    """A repeated integer field, packed (as proto3 wants it) or not."""
    result = []
    for value in m.get(number, []):
        if isinstance(value, int):
            result.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = _varint(value, at)
            result.append(item)
    return result


def _value_type(data, strings):
    m = message(data)
    return strings[_one(m, 1)], strings[_one(m, 2)]


def _function_names(top, strings):
    names = {}
    for data in top.get(5, []):
        m = message(data)
        names[_one(m, 1)] = strings[_one(m, 2)]
    return names


def _location_names(top, strings):
    """location id → names, outermost first: a location has several where calls were inlined, innermost first in the file."""
    functions = _function_names(top, strings)
    result = {}
    for data in top.get(4, []):
        m = message(data)
        lines = [functions[_one(message(line), 1)] for line in m.get(4, [])]
        result[_one(m, 1)] = tuple(reversed(lines)) or (f"0x{_one(m, 3):x}",)
    return result


def _location_places(top, strings):
    """location id → (function, file, line, column), outermost first."""
    functions = {_one(m, 1): (strings[_one(m, 2)], strings[_one(m, 4)]) for m in map(message, top.get(5, []))}
    result = {}
    for m in map(message, top.get(4, [])):
        lines = [message(line) for line in m.get(4, [])]
        result[_one(m, 1)] = tuple((*functions[_one(line, 1)], _one(line, 2), _one(line, 3)) for line in reversed(lines))
    return result


def _mappings(top, strings):
    functions = _function_names(top, strings)
    known = {_one(m, 1): (strings[_one(m, 5)], strings[_one(m, 6)]) for m in map(message, top.get(3, []))}
    result = {}
    for m in map(message, top.get(4, [])):
        for line in m.get(4, []):
            result.setdefault(functions[_one(message(line), 1)], set()).add(known.get(_one(m, 2)))
    return result


def _sample(data, locations, places, strings):
    m = message(data)
    frames = tuple(name for location in reversed(_numbers(m, 1)) for name in locations[location])
    labels = {}
    for label in m.get(3, []):
        fields_of = message(label)
        labels[strings[_one(fields_of, 1)]] = strings[_one(fields_of, 2)] or _one(fields_of, 3)
    where = [p for location in reversed(_numbers(m, 1)) for p in places[location]]
    return Sample(frames, tuple(_signed(v) for v in _numbers(m, 2)), labels, tuple(p[:3] for p in where), tuple(p[3] for p in where))


def parse(data):
    """From bytes, gzip'd or plain."""
    top = message(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    strings = [s.decode("utf-8") for s in top.get(6, [])]
    assert strings and strings[0] == "", "string 0 is empty"
    locations = _location_names(top, strings)
    places = _location_places(top, strings)
    return Profile(
        sample_types=[_value_type(t, strings) for t in top.get(1, [])],
        period_type=_value_type(_one(top, 11, b""), strings),
        period=_one(top, 12), time_nanos=_one(top, 9), duration_nanos=_one(top, 10),
        samples=[_sample(s, locations, places, strings) for s in top.get(2, [])],
        strings=strings,
        functions={(strings[_one(m, 2)], strings[_one(m, 4)], _one(m, 5)) for m in map(message, top.get(5, []))},
        mappings=_mappings(top, strings))
