# SPDX-License-Identifier: Apache-2.0
"""The stand-in itself: a judge must be judged first."""

import base64
import gzip
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import protos  # noqa: E402
import rules  # noqa: E402
from standin import PUSH_PATH, Standin  # noqa: E402

LABELS = {"__name__": "process_cpu", "service_name": "demo"}


@pytest.fixture
def standin():
    with Standin() as server:
        yield server


def make_profile(**changes):
    """Two samples of main → f and main → g (g inlined into h), 10 ms each."""
    p = protos.pprof.Profile()
    p.string_table.extend(["", "cpu", "nanoseconds", "main", "f", "g", "h", "/bin/demo", "key", "value"])
    p.sample_type.add(type=1, unit=2)
    p.period_type.type, p.period_type.unit, p.period = 1, 2, 10_000_000
    p.time_nanos = int(time.time() * 1e9)
    p.mapping.add(id=1, filename=7, has_functions=True)
    for i, name in enumerate([3, 4, 5, 6], 1):
        p.function.add(id=i, name=name)
    p.location.add(id=1, mapping_id=1).line.add(function_id=1)
    p.location.add(id=2, mapping_id=1).line.add(function_id=2)
    inlined = p.location.add(id=3, mapping_id=1)
    inlined.line.add(function_id=3)
    inlined.line.add(function_id=4)
    p.sample.add(location_id=[2, 1], value=[10_000_000])
    p.sample.add(location_id=[3, 1], value=[20_000_000])
    for name, value in changes.items():
        setattr(p, name, value)
    return p


def make_body(profile, labels=None):
    request = protos.push.PushRequest()
    series = request.series.add()
    for name, value in sorted((LABELS if labels is None else labels).items()):
        series.labels.add(name=name, value=value)
    raw = profile if isinstance(profile, bytes) else gzip.compress(profile.SerializeToString())
    series.samples.add(raw_profile=raw)
    return request.SerializeToString()


def post(url, body, **headers):
    """Status, headers and body of the answer, whatever it is."""
    headers = {"Content-Type": "application/proto", **{k.replace("_", "-"): v for k, v in headers.items()}}
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read()


def push(standin, profile, labels=None):
    status, _, body = post(standin.url + PUSH_PATH, make_body(profile, labels))
    return status, json.loads(body) if body else {}


def get(standin, path):
    with urllib.request.urlopen(standin.url + path, timeout=10) as answer:
        return answer.read()


def test_accepted(standin):
    assert push(standin, make_profile()) == (200, {})
    [stored] = json.loads(get(standin, "/_pushes"))
    assert stored["labels"] == LABELS
    assert stored["sample_types"] == ["cpu:nanoseconds"]
    assert (stored["period_type"], stored["period"]) == ("cpu:nanoseconds", 10_000_000)
    assert stored["totals"] == {"cpu:nanoseconds": 30_000_000}
    assert stored["stacks"] == {"main;f": [10_000_000], "main;h;g": [20_000_000]}
    assert stored["mappings"] == [{"filename": "/bin/demo", "build_id": ""}]
    assert stored["warnings"] == []
    profile = protos.pprof.Profile.FromString(gzip.decompress(base64.b64decode(stored["profile"])))
    assert len(profile.sample) == stored["n_samples"] == 2


def test_selected_by_label(standin):
    push(standin, make_profile())
    push(standin, make_profile(), {**LABELS, "service_name": "other"})
    assert len(json.loads(get(standin, "/_pushes?service_name=other"))) == 1
    assert len(standin.pushes()) == 2


def test_ready(standin):
    assert get(standin, "/ready") == b"ready\n"


def test_json_and_plain_pprof(standin):
    raw = base64.b64encode(make_profile().SerializeToString()).decode()
    body = {"series": [{"labels": [{"name": k, "value": v} for k, v in sorted(LABELS.items())],
                        "samples": [{"rawProfile": raw}]}]}
    status, headers, answer = post(standin.url + PUSH_PATH, json.dumps(body).encode(), Content_Type="application/json")
    assert (status, answer) == (200, b"{}")
    assert standin.pushes()[0]["totals"] == {"cpu:nanoseconds": 30_000_000}


def test_path_prefix_and_gzip_body(standin):
    status, headers, _ = post(standin.url + "/a/b" + PUSH_PATH, gzip.compress(make_body(make_profile())), Content_Encoding="gzip")
    assert (status, headers["Content-Type"]) == (200, "application/proto")


def test_transport(standin):
    url = standin.url + PUSH_PATH
    assert post(url, b"", Content_Type="text/plain")[0] == 415
    assert post(url, b"x", Content_Encoding="zstd")[0] == 501
    assert post(url, b"\xff\xff\xff")[0] == 400
    assert post(url, b"") [0] == 400
    with pytest.raises(urllib.error.HTTPError) as error:
        get(standin, PUSH_PATH)
    assert (error.value.code, error.value.headers["Allow"]) == (405, "POST")
    assert post(standin.url + "/nowhere", b"")[0] == 404


REFUSED_LABELS = [
    ("none", {}, "at least one label"),
    ("no name", {"service_name": "s"}, "invalid metric name"),
    ("empty name", {"__name__": "", "service_name": "s"}, "invalid metric name"),
    ("bad name", {"__name__": "a-b", "service_name": "s"}, "invalid metric name"),
    ("dots", {**LABELS, "otel.scope": "x"}, "invalid label name"),
    ("digit first", {**LABELS, "1a": "x"}, "invalid label name"),
    ("long name", {**LABELS, "n" * 1025: "x"}, "name too long"),
    ("long value", {**LABELS, "a": "v" * 2049}, "value too long"),
    ("too many", {**LABELS, **{f"l{i}": "x" for i in range(29)}}, "31 label names"),
]


@pytest.mark.parametrize("labels,text", [row[1:] for row in REFUSED_LABELS], ids=[row[0] for row in REFUSED_LABELS])
def test_refused_labels(standin, labels, text):
    status, answer = push(standin, make_profile(), labels)
    assert (status, answer["code"]) == (400, "invalid_argument")
    assert text in answer["message"]
    assert standin.pushes() == []


def test_labels_at_the_limits(standin):
    labels = {**LABELS, "n" * 1024: "v" * 2048, **{f"l{i}": "x" for i in range(27)}}
    assert len(labels) == 30
    assert push(standin, make_profile(), labels)[0] == 200


def test_duplicate_label_name():
    series = protos.push.RawProfileSeries()
    for _ in range(2):
        series.labels.add(name="__name__", value="a")
    with pytest.raises(rules.Refused, match="duplicate label name"):
        rules.check_series(series)


def changed(change):
    def make():
        profile = make_profile()
        change(profile)
        return profile
    return make


def add_samples(n):
    return changed(lambda p: [p.sample.add(location_id=[1], value=[1]) for _ in range(n - 2)])


def with_string(index, text):
    return changed(lambda p: p.string_table.__setitem__(index, text))


def incompressible(n_bytes):
    return changed(lambda p: p.string_table.append(os.urandom(n_bytes // 2).hex()))


REFUSED_PROFILES = [
    ("too old", lambda: make_profile(time_nanos=int((time.time() - 3700) * 1e9)), 400, "ingestion window"),
    ("too new", lambda: make_profile(time_nanos=int((time.time() + 700) * 1e9)), 400, "ingestion window"),
    ("too many samples", add_samples(16001), 400, "samples count limit"),
    ("too large", incompressible(5 << 20), 400, "size exceeds limit"),
    ("above the burst", incompressible(3 << 20), 429, "push rate limit"),
    ("no sample type", changed(lambda p: p.ClearField("sample_type")), 400, "no sample type"),
    ("two values", changed(lambda p: p.sample[0].value.append(1)), 400, "number of values"),
    ("string 0", with_string(0, "x"), 400, "string 0"),
    ("no strings", lambda: protos.pprof.Profile(), 400, "string 0"),
    ("string index", changed(lambda p: setattr(p.function[0], "name", 99)), 400, "string index"),
    ("negative string index", changed(lambda p: setattr(p.function[0], "name", -1)), 400, "string index"),
    ("minus in type", with_string(1, "off-cpu"), 400, "'-'"),
    ("location 0", changed(lambda p: setattr(p.location[0], "id", 0)), 400, "id 0"),
    ("function 0", changed(lambda p: setattr(p.function[0], "id", 0)), 400, "id 0"),
    ("unknown function", changed(lambda p: setattr(p.location[0].line[0], "function_id", 77)), 400, "function id"),
    ("unknown location", changed(lambda p: p.sample[0].location_id.append(77)), 400, "location id"),
    ("same location twice", changed(lambda p: setattr(p.location[0], "id", 2)), 400, "same id"),
    ("sample labels", changed(lambda p: [p.sample[0].label.add(key=8, num=1) for _ in range(101)]), 400, "sample labels"),
]


@pytest.mark.parametrize("make,status,text", [row[1:] for row in REFUSED_PROFILES], ids=[row[0] for row in REFUSED_PROFILES])
def test_refused_profiles(standin, make, status, text):
    got, answer = push(standin, make())
    assert got == status
    assert text in answer["message"]
    assert standin.pushes() == []
    assert text in standin.stats()["refusals"][0]


def test_refused_bytes(standin):
    good = gzip.compress(make_profile().SerializeToString())
    bad_utf8 = make_profile().SerializeToString().replace(b"main", b"ma\xffn")
    for raw in (good[:-9], b"\x1f\x8bgarbage", b"\xff\xff", bad_utf8):
        assert push(standin, raw)[0] == 400
    assert standin.pushes() == []


def test_samples_at_the_limit(standin):
    assert push(standin, add_samples(16000)())[0] == 200


WARNED = [
    ("no service", None, {"__name__": "process_cpu"}, "no service_name"),
    ("reserved", None, {**LABELS, "__process_pid__": "1"}, "reserved label __process_pid__"),
    ("no period", changed(lambda p: p.ClearField("period_type")), None, "no period: some servers fail on it"),
    ("no time", lambda: make_profile(time_nanos=0), None, "no time_nanos"),
    ("zero value", changed(lambda p: p.sample.add(location_id=[1], value=[0])), None, "a sample without value, or below zero"),
    ("sample label", changed(lambda p: p.sample[0].label.add(key=8, str=9)), None, "sample label key becomes a series label"),
    ("deep", changed(lambda p: p.sample.add(location_id=[2] * 1001, value=[1])), None, "a stack deeper than the server keeps"),
    ("long string", with_string(4, "x" * 70000), None, "a string longer than the server keeps"),
]


@pytest.mark.parametrize("make,labels,text", [row[1:] for row in WARNED], ids=[row[0] for row in WARNED])
def test_warnings(standin, make, labels, text):
    assert push(standin, (make or make_profile)(), labels)[0] == 200
    assert standin.stats()["warnings"] == [text]


def test_unsorted_labels():
    series = protos.push.RawProfileSeries()
    for name in ("service_name", "__name__"):
        series.labels.add(name=name, value="a")
    series.samples.add(raw_profile=make_profile().SerializeToString())
    assert rules.check_series(series)[0].warnings == ["labels are not sorted"]


def test_nothing_to_store(standin):
    assert push(standin, changed(lambda p: p.ClearField("sample"))())[0] == 200
    assert standin.pushes() == []
    assert standin.stats()["refusals"] == ["accepted, but nothing was left to store"]


def test_duplicates(standin):
    profile = make_profile()
    later = make_profile(time_nanos=profile.time_nanos + 1_000_000)
    for p in (profile, profile, later):
        assert push(standin, p)[0] == 200
    assert len(standin.pushes()) == 2
    assert standin.stats()["duplicates"] == [LABELS]


def test_good_series_are_stored_with_bad_ones(standin):
    request = protos.push.PushRequest()
    request.ParseFromString(make_body(make_profile()))
    request.series.add().samples.add(raw_profile=b"x")
    assert post(standin.url + PUSH_PATH, request.SerializeToString())[0] == 400
    assert len(standin.pushes()) == 1


CANNED = [("400", 400, "invalid_argument"), ("401", 401, "unauthenticated"), ("403", 403, "permission_denied"),
          ("429", 429, "resource_exhausted"), ("429-retry-after", 429, "resource_exhausted"), ("500", 500, "unknown"), ("503", 503, "unavailable")]


@pytest.mark.parametrize("mode,status,code", CANNED)
def test_canned_modes(standin, mode, status, code):
    assert post(standin.url + "/_mode", json.dumps({"mode": mode, "times": 1}).encode())[0] == 200
    got, headers, body = post(standin.url + PUSH_PATH, make_body(make_profile()))
    assert (got, json.loads(body)["code"]) == (status, code)
    assert headers["Retry-After"] == ("1" if mode == "429-retry-after" else None)
    assert push(standin, make_profile())[0] == 200
    assert len(standin.pushes()) == 1


def test_mode_503_html(standin):
    standin.set_mode("503-html")
    status, headers, body = post(standin.url + PUSH_PATH, make_body(make_profile()))
    assert (status, headers["Content-Type"]) == (503, "text/html")
    assert body.startswith(b"<html>")


def test_mode_reset(standin):
    standin.set_mode("reset")
    with pytest.raises((ConnectionResetError, urllib.error.URLError)):
        post(standin.url + PUSH_PATH, make_body(make_profile()))
    assert standin.pushes() == []


def test_mode_half_close(standin):
    standin.set_mode("half-close")
    with pytest.raises(http.client.IncompleteRead):
        post(standin.url + PUSH_PATH, make_body(make_profile()))
    assert len(standin.pushes()) == 1


@pytest.mark.parametrize("times", [None, 1])
def test_mode_hang_until_changed(standin, times):
    standin.set_mode("hang", times)
    host, port = standin.server.server_address
    body = make_body(make_profile())
    with socket.create_connection((host, port), timeout=10) as client:
        client.sendall(f"POST {PUSH_PATH} HTTP/1.1\r\nHost: h\r\nContent-Type: application/proto\r\n"
                       f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)
        standin.set_mode("ok")
        client.settimeout(10)
        assert client.recv(1) == b""
    assert standin.pushes() == []


def test_mode_slow(standin):
    standin.set_mode("slow", delay_s=0.01)
    assert push(standin, make_profile())[0] == 200
    assert len(standin.pushes()) == 1


def test_unknown_mode(standin):
    for body in (b'{"mode":"surprise"}', b"{}", b"[]", b"x"):
        assert post(standin.url + "/_mode", body)[0] == 400


def test_reset_and_stats(standin):
    push(standin, make_profile())
    assert standin.wait_for_pushes(1, timeout_s=1)
    stats = json.loads(get(standin, "/_stats"))
    assert (stats["requests"], stats["pushes"], stats["statuses"]) == (1, 1, {"200": 1})
    assert stats["headers"]["content-type"] == "application/proto"
    post(standin.url + "/_reset", b"")
    assert standin.pushes() == []
    assert not standin.wait_for_pushes(1, timeout_s=0)


def test_as_a_program(tmp_path):
    script = pathlib.Path(__file__).parent / "standin.py"
    command = [sys.executable, "-B", script, "--port", "0", "--port-file", tmp_path / "port"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            line = program.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:")
            assert (tmp_path / "port").read_text() == line.rsplit(":", 1)[1]
            with urllib.request.urlopen(line.split()[-1] + "/ready", timeout=10) as answer:
                assert answer.status == 200
        finally:
            program.terminate()
