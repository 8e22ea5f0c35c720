# SPDX-License-Identifier: Apache-2.0
"""
A client of Pyroscope's read API in both codecs, and forms of its answers that can be compared.

It knows the messages from querier.proto, through Google's protobuf, and nothing else of what answers.
"""
import gzip
import http.client
import json
import urllib.parse
from typing import NamedTuple

from google.protobuf import json_format

from .store_data import PUSH, protos, push_json, push_proto

messages = protos.load("agent/store/api/querier.proto")
SERVICE = "/querier.v1.QuerierService/"
PROFILE = "SelectMergeProfile"


class Answer(NamedTuple):
    status: int
    headers: dict  # names in lower case
    body: bytes

    @property
    def code(self):
        """Of a Connect error, None where there is none."""
        try:
            return json.loads(self.body).get("code")
        except (ValueError, AttributeError):
            return None


class Server:
    """What answers at a URL. One connection is kept."""

    def __init__(self, url):
        self.url = url
        self._connection = None

    def request(self, verb, path, body=None, **headers):
        """One request on the kept connection; a server that has closed it meanwhile is asked again."""
        for last in (False, True):
            if not self._connection:
                self._connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=20)
            try:
                return self._exchange(verb, path, body, headers)
            except (http.client.HTTPException, OSError):
                self._connection = None
                if last:
                    raise
        return None

    def _exchange(self, verb, path, body, headers):
        self._connection.request(verb, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = self._connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    def post(self, path, body, kind="application/json", **headers):
        return self.request("POST", path, body, Content_Type=kind, **headers)

    def get(self, path, **parameters):
        return self.request("GET", path + ("?" + urllib.parse.urlencode(parameters, doseq=True) if parameters else ""))

    def push(self, *series, as_json=False):
        if as_json:
            return self.post(PUSH, push_json(*series))
        return self.post(PUSH, push_proto(*series), "application/proto")

    def ask(self, method, **request):
        """The answer as JSON."""
        return self.post(SERVICE + method, json.dumps(request).encode())

    def ask_proto(self, method, **request):
        message = json_format.ParseDict(request, message_of(method, "Request"))
        return self.post(SERVICE + method, message.SerializeToString(), "application/proto")

    def json(self, method, **request):
        answer = self.ask(method, **request)
        assert answer.status == 200, f"{method} {request}: {answer}"
        return json.loads(answer.body)

    def proto(self, method, **request):
        """The answer to the same in protobuf, as JSON would have it."""
        answer = self.ask_proto(method, **request)
        assert answer.status == 200, f"{method} {request}: {answer}"
        message = protos.pprof.Profile() if method == PROFILE else message_of(method, "Response")
        message.ParseFromString(answer.body)
        return json_format.MessageToDict(message)


def message_of(method, side):
    return getattr(messages, method + side)()


# ---- forms that can be compared -------------------------------------------------------------------------------------------------------


def pairs(labels):
    return tuple((label["name"], label.get("value", "")) for label in labels)


def numbers(level):
    return [int(v) for v in level.get("values", [])]


class Node(NamedTuple):
    path: tuple
    values: tuple  # total, self; of a comparison left total, left self, right total, right self


def tree(flamegraph, width=4):
    """The bars of a flame graph (width 4) or a comparison (width 7), depth by depth, each with its path."""
    names, above, result = flamegraph["names"], [(0, None, ())], []
    for depth, level in enumerate(map(numbers, flamegraph["levels"])):
        bars, ends, parent = [], [0] * (width // 3), 0
        assert len(level) % width == 0, f"level {depth} has {len(level)} numbers"
        for bar in (level[i:i + width] for i in range(0, len(level), width)):
            begin, total, own = bar[0:-1:3], bar[1:-1:3], bar[2:-1:3]
            starts = [e + b for e, b in zip(ends, begin)]
            ends = [s + t for s, t in zip(starts, total)]
            parent = _parent(above, parent, starts, ends)
            path = above[parent][2] + ((names[bar[-1]],) if depth else ())
            bars.append((tuple(starts), tuple(ends), path))
            result.append(Node(path, tuple(v for pair in zip(total, own) for v in pair)))
        above = bars
    return result


def _parent(above, at, starts, ends):
    """The number, from `at` on, of the bar of the level above over which a bar lies."""
    for number in range(at, len(above)):
        begin, end, _ = above[number]
        if end is None or all(b <= s and e <= x for b, s, e, x in zip(begin, starts, ends, end)):
            return number
    raise AssertionError(f"the bar at {starts} has none above it")


def flamegraph(answer, width=4):
    """Everything of a flame graph that does not depend on the order of its names."""
    graph = answer.get("flamegraph") or {}
    if not graph.get("levels"):
        return {k: v for k, v in graph.items() if k != "names"}
    assert len(set(graph["names"])) == len(graph["names"]) and graph["names"][0] == "total"
    return {"nodes": tree(graph, width), "names": sorted(graph["names"]),
            **{k: v for k, v in graph.items() if k not in ("names", "levels")}}


def series(answer):
    """labels → [(time, value)]"""
    result = [(pairs(s.get("labels", [])), [(int(p["timestamp"]), p.get("value", 0)) for p in s.get("points", [])])
              for s in answer.get("series", [])]
    assert len(dict(result)) == len(result), "a series comes twice"
    return sorted(result)


def label_sets(answer):
    return sorted(pairs(s.get("labels", [])) for s in answer.get("labelsSet", []))


def profile(answer):
    """A pprof as JSON: what it says, whatever the order of its tables: sums by stack with file, line and mapping."""
    text = answer.get("stringTable", [""])
    functions = {f["id"]: f for f in answer.get("function", [])}
    mappings = {m["id"]: m for m in answer.get("mapping", [])}

    def string(message, key):
        return text[int(message.get(key, 0))]

    def line(one):
        f = functions[one["functionId"]]
        return (string(f, "name"), string(f, "systemName"), string(f, "filename"), f.get("startLine", "0"), one.get("line", "0"))

    def place(location):
        mapping = mappings.get(location.get("mappingId"), {})
        return (tuple(map(line, location.get("line", []))), location.get("address", "0"), string(mapping, "filename"))
    locations = {l["id"]: place(l) for l in answer.get("location", [])}
    stacks = {}
    for sample in answer.get("sample", []):
        assert not sample.get("label"), "labels of samples are labels of series"
        key = tuple(locations[i] for i in reversed(sample.get("locationId", [])))
        stacks[key] = stacks.get(key, 0) + int(sample["value"][0])
    value_type = [(string(t, "type"), string(t, "unit")) for t in answer.get("sampleType", [])]
    period = answer.get("periodType", {})
    return {"types": value_type, "period": (string(period, "type"), string(period, "unit")), "stacks": stacks}


def unzip(answer):
    return gzip.decompress(answer.body) if answer.headers.get("content-encoding") == "gzip" else answer.body
