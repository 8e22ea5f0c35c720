# SPDX-License-Identifier: Apache-2.0
"""Requests and pushes that are wrong, or nearly so. What is pushed under the service `accepted` is right after all."""
import gzip
import json
import time

from .pyroscope import CPU
from .store_api import PROFILE, SERVICE
from .store_data import MEMORY, PUSH, TICK, Pprof, cpu_labels, push_json, push_proto
from .store_questions import MINUTE, SPAN, side, timed

TYPES = SERVICE + "ProfileTypes"
SETTINGS = "/settings.v1.SettingsService/"
PROTO, JSON = "application/proto", "application/json"


def asks(method, **request):
    return lambda server, begin: server.ask(method, **{k: v for k, v in timed(request, begin, (0, SPAN)).items() if v is not None})


def posts(path, body, kind=JSON, **headers):
    return lambda server, _: server.post(path, body, kind, **headers)


def sends(verb, path, body=None, **headers):
    return lambda server, _: server.request(verb, path, body, **headers)


def _selects(**change):
    """One change of a request that is right, to each method that takes it."""
    right = {"profileTypeID": CPU, "labelSelector": "{}"}
    for method in ("SelectMergeStacktraces", PROFILE, "SelectSeries"):
        yield method, asks(method, **{**right, **({"step": 15} if method == "SelectSeries" else {}), **change})


def _ranges(**change):
    for method in ("ProfileTypes", "LabelNames", "Series"):
        yield method, asks(method, **change)
    yield from _selects(**change)


DAY = 86_400_000
NOW = int(time.time() * 1000)  # the real server looks back a week only
REQUESTS = {
    **{f"{m}: type {t!r}": ask for t in ("", "a", "a:b:c:d", "a:b:c:d:e", "a:b:c:d:e:delta", "a:b:c:d:e:f", "a:b:c:d:e:f:g",
                                         "process_cpu:cpu:nanoseconds::")
       for m, ask in _selects(profileTypeID=t)},
    **{f"{m}: selector": ask for m, ask in _selects(labelSelector="{a")},
    **{f"{m}: no selector": ask for m, ask in _selects(labelSelector=None)},
    **{f"{m}: start after end": ask for m, ask in _ranges(start=1_700_000_000_000, end=1_600_000_000_000)},
    **{f"{m}: no time": ask for m, ask in _ranges(start=None, end=None)},
    **{f"{m}: no end": ask for m, ask in _ranges(end=None)},
    **{f"{m}: before 1970": ask for m, ask in _ranges(start=-1)},
    **{f"{m}: more than a day": ask for m, ask in _ranges(start=NOW - DAY - 1, end=NOW)},
    **{f"{m}: long ago": ask for m, ask in _ranges(start=1_500_000_000_000, end=1_500_000_000_000 + DAY)},
    **{f"{m}: in 2100": ask for m, ask in _ranges(start=4_102_444_800_000, end=4_102_444_800_000 + DAY)},
    **{f"{m}: matcher": asks(m, matchers=["{a"], name="host") for m in ("LabelNames", "LabelValues", "Series")},
    **{f"span {i!r}": asks("SelectMergeSpanProfile", profileTypeID=CPU, labelSelector="{}", spanSelector=["00000000000000ab", i])
       for i in ("", "ab", "z" * 16, "0" * 17)},
    "spans without a type": asks("SelectMergeSpanProfile", labelSelector="{}", spanSelector=["00000000000000ab"]),
    "spans without a time": asks("SelectMergeSpanProfile", profileTypeID=CPU, labelSelector="{}", start=None, end=None),
    "values of no name": asks("LabelValues"),
    "step 0": asks("SelectSeries", profileTypeID=CPU, labelSelector="{}"),
    "step of a millisecond": asks("SelectSeries", profileTypeID=CPU, labelSelector='{service_name="deep"}', step=0.001),
    "step as text": asks("SelectSeries", profileTypeID=CPU, labelSelector='{service_name="deep"}', step="60"),
    "aggregation 9": asks("SelectSeries", profileTypeID=CPU, labelSelector='{service_name="deep"}', step=60, aggregation=9),
    "limit -1": asks("SelectSeries", profileTypeID=CPU, labelSelector="{}", step=60, limit=-1, groupBy=["host"]),
    "maxNodes -1": asks("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", maxNodes=-1),
    "maxNodes 1048577": asks("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", maxNodes=1_048_577),
    "maxNodes 1048576": asks("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", maxNodes=1_048_576),
    "format 7": asks("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", format=7),
    "format of no name": asks("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", format="NOPE"),
    "diff without sides": asks("Diff"), "diff without left": asks("Diff", right=side("{}")),
    "unknown method": posts(SERVICE + "Nothing", b"{}"), "unknown service": posts("/querier.v1.Nothing/ProfileTypes", b"{}"),
    "unknown path": sends("GET", "/nothing/at/all"),
    "GET": sends("GET", TYPES), "PUT": sends("PUT", TYPES, b"{}", Content_Type=JSON), "DELETE": sends("DELETE", TYPES),
    "HEAD": sends("HEAD", TYPES), "GET of push": sends("GET", PUSH),
    "text": posts(TYPES, b"{}", "text/plain"), "no type": sends("POST", TYPES, b"{}"),
    "x-protobuf": posts(TYPES, b"", "application/x-protobuf"),
    "JSON in utf-8": posts(TYPES, b"{}", "application/json; charset=utf-8"),
    "JSON in latin-1": posts(TYPES, b"{}", "application/json; charset=latin-1"),
    "type in capitals": posts(TYPES, b"{}", "Application/JSON"),
    "proto with charset": posts(TYPES, b"", "application/proto; charset=utf-8"),
    **{f"JSON {body!r}": posts(TYPES, body) for body in (
        b"", b"{", b"{} x", b"[]", b"null", b"1", b'{"start":"x"}', b'{"start":{}}', b'{"start":1.5}', b'{"start":null}',
        b'{"start":1,"start":2}', b'{"start":true}',
        b'{"start":1.0,"end":1e3}', b'{"start":"1","end":"2"}', b'{"start":9223372036854775808}', b'{"nothing":{"a":[1]}}', b'{"a":"\xff"}',
        b'{"a":"\\ud800"}',
        b'{"start":01}', b"{'start':1}", b'{"start":1,}', b'{"start":" 1"}', b'{"start":""}', b"\xef\xbb\xbf{}", b" {} ", b'{"a":"\x01"}')},
    "JSON of 20000 brackets": posts(TYPES, b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
    "text where a list is": posts(SERVICE + "LabelNames", b'{"matchers":"{}"}'),
    "null in a list": posts(SERVICE + "LabelNames", b'{"matchers":[null]}'),
    "snake case": lambda s, b: s.post(SERVICE + "SelectMergeStacktraces", json.dumps(
        {"profile_typeID": CPU, "label_selector": '{service_name="deep"}', "start": b, "end": b + SPAN}).encode()),
    **{f"proto {body!r}": posts(TYPES, body, PROTO) for body in (
        b"", b"\xff\xff\xff", b"\x08", b"\x0a\x7f", b"\xa2\x06\x01a", b"\x00\x00", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x0a\x01a", b"\x0b\x0c", b"\x0e")},
    "text that is no UTF-8 in proto": posts(SERVICE + "LabelNames", b"\x0a\x02\xff\xfe", PROTO),
    "gzip": posts(TYPES, gzip.compress(b"{}"), Content_Encoding="gzip"),
    "gzip of proto": posts(TYPES, gzip.compress(b""), PROTO, Content_Encoding="gzip"),
    "no gzip": posts(TYPES, b"{}", Content_Encoding="gzip"), "cut gzip": posts(TYPES, gzip.compress(b"{}")[:-9], Content_Encoding="gzip"),
    "gzip with a wrong sum": posts(TYPES, gzip.compress(b"{}")[:-8] + bytes(8), Content_Encoding="gzip"),
    "zstd": posts(TYPES, b"{}", Content_Encoding="zstd"), "identity": posts(TYPES, b"{}", Content_Encoding="identity"),
    "accepts gzip": posts(TYPES, b"{}", Accept_Encoding="gzip"), "accepts br": posts(TYPES, b"{}", Accept_Encoding="br"),
    "accepts gzip among others": posts(TYPES, b"{}", Accept_Encoding="br;q=1.0, gzip;q=0.8, *;q=0.1"),
    "protocol 1": posts(TYPES, b"{}", Connect_Protocol_Version="1"), "protocol 2": posts(TYPES, b"{}", Connect_Protocol_Version="2"),
    "timeout": posts(TYPES, b"{}", Connect_Timeout_Ms="5000"), "timeout x": posts(TYPES, b"{}", Connect_Timeout_Ms="x"),
    "timeout of 11 digits": posts(TYPES, b"{}", Connect_Timeout_Ms="12345678901"),
    "ready": sends("GET", "/ready"),
    "version": posts("/version.v1.Version/Version", b"{}"), "settings": posts(SETTINGS + "Get", b"{}"),
    "setting of nothing": posts(SETTINGS + "Set", b"{}"), "no setting to delete": posts(SETTINGS + "Delete", b"{}"),
    "unknown setting to delete": posts(SETTINGS + "Delete", b'{"name":"nobody"}'),
}


# ---- pushes that are wrong ------------------------------------------------------------------------------------------------------------


def _good(begin, at=1_000):
    return Pprof(begin + at).add("main run", TICK)



def _broken(begin, change):
    p = _good(begin)
    change(p.message)
    return p.message.SerializeToString()


def _clear(*fields):
    def change(m):
        for field in fields:
            m.ClearField(field)
    return change


def pushes(begin):
    """name → body of a push in protobuf whose profiles nobody may see, but for those of service `accepted`."""
    refused, accepted = cpu_labels("refused"), cpu_labels("accepted")
    raw = _good(begin).bytes()

    def one(labels, data=raw):
        return push_proto((labels, data))
    return {
        "nothing": b"", "no profile": push_proto((refused,)), "no labels": one({}), "no name": one({"service_name": "refused"}),
        "empty name": one({"__name__": "", "service_name": "refused"}),
        "empty service": one({"__name__": "process_cpu", "service_name": ""}),
        "bad label name": one({**refused, "a-b": "c"}), "label name of a digit": one({**refused, "0a": "c"}),
        "long label name": one({**refused, "a" * 1025: "c"}),
        "long label value": one({**refused, "a": "c" * 2049}), "31 labels": one({**refused, **{f"l{n}": "v" for n in range(29)}}),
        "label twice": push_proto((refused, raw)).replace(b"service_name", b"__name__xxxx"[:12]),
        "garbage": one(refused, b"garbage"), "empty": one(refused, b""), "cut": one(refused, _good(begin).message.SerializeToString()[:-3]),
        "cut gzip": one(refused, raw[:-5]), "gzip of garbage": one(refused, gzip.compress(b"garbage")),
        "too old": one(refused, _good(begin - 420 * MINUTE).bytes()), "too new": one(refused, _good(begin + 120 * MINUTE).bytes()),
        "no sample type": one(refused, _broken(begin, _clear("sample_type"))),
        "no string": one(refused, _broken(begin, _clear("string_table"))),
        "first string is not empty": one(refused, _broken(begin, lambda m: m.string_table.__setitem__(0, "x"))),
        "string index": one(refused, _broken(begin, lambda m: setattr(m.function[0], "name", 99))),
        "location id 0": one(refused, _broken(begin, lambda m: setattr(m.location[0], "id", 0))),
        "function id 0": one(refused, _broken(begin, lambda m: setattr(m.function[0], "id", 0))),
        "unknown location": one(refused, _broken(begin, lambda m: m.sample[0].location_id.append(77))),
        "unknown function": one(refused, _broken(begin, lambda m: m.location[0].line.add(function_id=77))),
        "two values of one type": one(refused, _broken(begin, lambda m: m.sample[0].value.append(1))),
        "no value": one(refused, _broken(begin, lambda m: m.sample[0].ClearField("value"))),
        "dash in the type": one(refused, Pprof(begin, [("a-b", "count")]).add("main", 1).bytes()),
        "only zeros": one(refused, Pprof(begin).add("main", 0).bytes()),
        "only negative": one(refused, Pprof(begin).add("main", -5).bytes()),
        "no sample": one(refused, _broken(begin, _clear("sample"))),
        "16001 samples": one(refused, _many(begin).bytes()),
        "twice": one(cpu_labels("shop", host="alpha", region="süd", tier="web"), Pprof(begin).add("again", TICK).bytes()),
        "unknown field": one(accepted, _good(begin).message.SerializeToString() + b"\xa2\x06\x01a"),
        "empty label value": one({**accepted, "empty": ""}, _good(begin, 2_000).bytes()),
        "label with a dot": one({**accepted, "a.b": "c"}, _good(begin, 3_000).bytes()),
        "no service": one({"__name__": "process_cpu", "who": "accepted"}, _good(begin, 4_000).bytes()),
        "period of none": one(accepted, Pprof(begin + 5_000, [("lines", "count")], ("", "", 0)).add("main", 3).bytes()),
        "negative among positive": one(accepted, Pprof(begin + 6_000).add("main a", -5).add("main b", 7).add("main c", 0).bytes()),
        "equal stacks": one(accepted, Pprof(begin + 7_000).add("main twin", 5).add("main twin", 7).bytes()),
        "no function names": one(cpu_labels("nameless"), _nameless(begin + 8_000).bytes()),
        "no stack": one(cpu_labels("stackless"), Pprof(begin + 9_000).add("", 5).add("main lone", 3).bytes()),
        "1100 frames": one(accepted, Pprof(begin + 10_000).add(" ".join(f"d{n}" for n in range(1100)), 3).bytes()),
        "long function name": one(accepted, Pprof(begin + 11_000).add("main " + "n" * 70_000, 3).bytes()),
        "old delta names": one({**accepted, "__name__": "godeltaprof_memory"},
                               Pprof(begin + 12_000, MEMORY).add("main", 1, 2, 3, 4).bytes()),
        "a name of wall": one({**accepted, "__name__": "wall"}, Pprof(begin + 13_000).add("main wall", 5).bytes()),
        "two profiles": push_proto((accepted, Pprof(begin + 14_000).add("main a", 5).bytes(),
                                    Pprof(begin + 15_000).add("main b", 5).bytes())),
        "good beside bad": push_proto((accepted, Pprof(begin + 16_000).add("main good", 5).bytes()), (refused, b"garbage")),
    }


def _many(begin):
    p = Pprof(begin)
    for number in range(16_001):
        p.add(f"main f{number % 300} g{number}", 1)
    return p


def _nameless(time_ms):
    """Addresses alone: of a mapping that claims to have names, and of one that does not."""
    p = Pprof(time_ms).add("main addresses", 3)
    p.message.mapping.add(id=2, memory_start=0x10000, memory_limit=0x20000, filename=p._string("/usr/lib/libfoo.so.1"),
                          build_id=p._string("abcdef"))
    p.message.location.add(id=50, mapping_id=1, address=0x400123)
    p.message.location.add(id=51, mapping_id=2, address=0x10456)
    p.message.location.add(id=52, mapping_id=2)
    p.message.sample.add(location_id=[50, 1], value=[5])
    p.message.sample.add(location_id=[51, 1], value=[7])
    p.message.sample.add(location_id=[52, 1], value=[11])
    return p


JSON_PUSHES = {
    "base64 without padding": b'{"series":[{"labels":[],"samples":[{"rawProfile":"YQ"}]}]}',
    "no base64": b'{"series":[{"labels":[],"samples":[{"rawProfile":"***"}]}]}',
    "URL base64": b'{"series":[{"labels":[],"samples":[{"rawProfile":"_-_-"}]}]}', "nothing": b"{}", "malformed": b'{"series":[',
    "a number": b'{"series":1}',
    "no profile": push_json((cpu_labels("refused"),)), "garbage": push_json((cpu_labels("refused"), b"garbage")),
}
