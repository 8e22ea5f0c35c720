# SPDX-License-Identifier: Apache-2.0
"""
The read API of the built-in store, judged by the real Pyroscope: both get the same pushes (harness/store_data.py, store_mistakes.py), and
are asked the same (harness/store_questions.py). Answers are equal, or the difference is in REASONS, and then they do differ.
"""
import json
import os
import re
import subprocess
import time

import pytest

from harness import paths, pyroscope, store_api, store_data, store_mistakes, store_questions
from harness.agent import Agent
from harness.processes import Processes, wait_until
from harness.pyroscope import CPU
from harness.store_api import SERVICE, Server, flamegraph, profile, unzip
from harness.store_data import PUSH, TICK, Pprof, cpu_labels
from harness.store_mistakes import JSON_PUSHES, PROTO, REQUESTS
from harness.store_questions import FORMS, QUESTIONS, SELECTORS, SPAN

pytestmark = pytest.mark.agent

STORE = 'pyroscope.store "local" { }\n'
# What differs, by the reason. A name is that of a question, or a pattern of such names.
REASONS = {
    "the store says `unimplemented`, as Connect has it; the real one has no such page": ["unknown method"],
    "a matcher that is wrong is the asker's mistake; the real one says that it failed itself": ["(LabelNames|LabelValues|Series): matcher"],
    "so is a profile that is no profile, or a text that is none":
        ["push of (garbage|empty|cut|cut gzip|gzip of garbage|good beside bad)", "JSON push of (base64 without padding|URL base64|garbage)",
         "text that is no UTF-8 in proto"],
    "the real one takes all of its head into account, however short the time that is asked for": ["(types|names|values|series) within"],
    "a time of no length holds nothing in the real one; the store's ends are both included": ["flame of an instant"],
    "the real one overlooks stackTraceSelector here; it heeds it in SelectMergeProfile and SelectSeries": ["below .+"],
    "the real one takes a function `other` for what was pruned before, and leaves out what it calls": ["flame of other"],
    "the real one prunes each side of a comparison before it joins them": ["diff pruned"],
    "the real one counts samples without a stack in rates, and nowhere else": ["rate of the stackless"],
    "the real one calls a function without a name `total` in a comparison": ["diff of strangers"],
    "old versions of Grafana put a profile type before the braces, where a metric's name belongs; the store answers them":
        [f"selector {CPU}{{}}"],
    "no span has the id of zeros; the real one takes samples of no span for it": ["spans: the id of none"],
    "the real one of this version selects spans in SelectMergeSpanProfile alone, and profiles nowhere":
        ["spans: of stacktraces", "spans: a (trace|profile) .*", "spans: a trace"],
    "a span that is none is the asker's mistake; the real one says that it failed itself": ["span '.*'"],
    "the real one looks at no more than a day at once; the store keeps so little that there is no reason to": [".*: before 1970",
                                                                                                               ".*: more than a day"],
}


def why_different(name):
    return next((reason for reason, patterns in REASONS.items() if any(name == p or re.fullmatch(p, name) for p in patterns)), None)


def begin_of_data(now):
    """
    Milliseconds: such that half an hour from there on is in one whole hour, because the real server splits its work at these, and lies
    between 59 minutes ago, as the real server wants it, and 9 minutes from now.
    """
    hour = now // 3600 * 3600
    return 1000 * (hour - 34 * 60 if now - hour < 25 * 60 else max(hour, now - 59 * 60))


class Pair:
    """The real server and the store, after the same pushes."""

    def __init__(self, real, store):
        self.real, self.store = Server(real), Server(store)
        self.begin = begin_of_data(int(time.time()))
        self.pushed, self.refused = {}, {}

    def both(self, ask):
        return ask(self.real), ask(self.store)

    def fill(self):
        for number, series in enumerate(store_data.everything(self.begin)):
            for answer in self.both(lambda server: server.push(series, as_json=bool(number % 2))):
                assert answer.status == 200, (series[0], answer)
        for name, body in store_mistakes.pushes(self.begin).items():
            self.pushed[name] = self.both(lambda server: server.post(PUSH, body, PROTO))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("store")
    processes = Processes(directory)
    try:
        real = pyroscope.Pyroscope(processes, directory, program)
        agent = Agent(processes, directory, STORE).wait_ready()
        result = Pair(real.url, agent.url)
        result.fill()
        yield result
        assert agent.stop() == 0, agent.log[-4000:]
    finally:
        processes.end_all()


def judge(name, real, store):
    reason = why_different(name)
    if reason:
        assert real != store, f"{name}: they are equal, although {reason}"
    else:
        assert store == real


@pytest.mark.parametrize("codec", ["json", "proto"])
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.name)
def test_answer(pair, question, codec):
    request = question.at_time(pair.begin)
    form = FORMS[question.method]
    judge(question.name, *pair.both(lambda server: form(getattr(server, codec)(question.method, **request))))


def selected(server, begin, selector):
    answer = server.ask("SelectMergeStacktraces", profileTypeID=CPU, labelSelector=selector, start=begin, end=begin + SPAN)
    return (answer.status, flamegraph(json.loads(answer.body)).get("total")) if answer.status == 200 else (answer.status, answer.code)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: repr(s)[:60])
def test_selector(pair, selector):
    judge(f"selector {selector}", *pair.both(lambda server: selected(server, pair.begin, selector)))


def shape(answer):
    """What a client acts on. How small answers are packed, and what is said in words, is up to a server."""
    kind = answer.headers.get("content-type", "").split(";")[0] if answer.status == 200 else None
    return answer.status, answer.code, kind, answer.status == 405 and answer.headers.get("allow") == "POST"


@pytest.mark.parametrize("name", REQUESTS)
def test_request(pair, name):
    judge(name, *(shape(a) for a in pair.both(lambda server: REQUESTS[name](server, pair.begin))))


@pytest.mark.parametrize("name", store_mistakes.pushes(0))
def test_push(pair, name):
    judge(f"push of {name}", *(shape(a)[:2] for a in pair.pushed[name]))


@pytest.mark.parametrize("name", JSON_PUSHES)
def test_push_as_json(pair, name):
    judge(f"JSON push of {name}", *(shape(a)[:2] for a in pair.both(lambda server: server.post(PUSH, JSON_PUSHES[name]))))


# ---- heatmaps and examples: the real server has them in its second storage alone ----

def push_values(server, now):
    """Profiles of 3 pods, some of them within spans, of which no two are of one second; values from 7 to 1007."""
    values = {"a": [10, 10, 35, 500], "b": [100, 104, 7, 36], "c": [1007, 20]}
    for number, (pod, all_of_one) in enumerate(values.items()):
        for i, value in enumerate(all_of_one):
            p = Pprof(now - 60_000 + 13_000 * i + 1_000 * number)
            p.add("main f", value)
            if i % 2:
                p.add("main g", 4 + i, span_id=f"00000000000000{number}{i}")
                p.add("main g h", 2, span_id=f"00000000000000{number}{i}")
            assert server.push(({**cpu_labels("values"), "pod": pod}, p.bytes())).status == 200
    one = Pprof(now - 60_000).add("main", 10)
    assert server.push((cpu_labels("single"), one.bytes())).status == 200


def exemplars(items):
    return sorted((e["timestamp"], e.get("spanId", ""), e["value"], bool(e.get("profileId")),
                   tuple(sorted((pair["name"], pair["value"]) for pair in e["labels"]))) for e in items)


def heatmap(answer):
    """The real one has its series in whatever order, and of equal examples takes any."""
    return sorted(([f"{pair['name']}={pair['value']}" for pair in one.get("labels", [])],
                   [(s["timestamp"], [float(y) for y in s["yMin"]], s["counts"], exemplars(s.get("exemplars", []))) for s in one["slots"]])
                  for one in answer.get("series", []))


def points(answer):
    return [(one.get("labels", []), [(p["timestamp"], p["value"], exemplars(p.get("exemplars", []))) for p in one["points"]])
            for one in answer.get("series", [])]


OF_PROFILES = {"queryType": "HEATMAP_QUERY_TYPE_INDIVIDUAL"}
OF_SPANS = {"queryType": "HEATMAP_QUERY_TYPE_SPAN"}
STEPS = [
    ("SelectHeatmap", heatmap, {**kind, **by, **some, "step": step})
    for kind, example in ((OF_PROFILES, "INDIVIDUAL"), (OF_SPANS, "SPAN")) for by in ({}, {"groupBy": ["pod"]}, {"groupBy": ["none", "pod"]})
    for some in ({}, {"exemplarType": f"EXEMPLAR_TYPE_{example}"}, {"exemplarType": "EXEMPLAR_TYPE_NONE"}) for step in (15, 60)
] + [("SelectSeries", points, {"step": 15, "exemplarType": f"EXEMPLAR_TYPE_{e}", **by}) for e in ("NONE", "INDIVIDUAL")
     for by in ({}, {"groupBy": ["pod"]})]


@pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")
def test_heatmaps_and_exemplars(processes, tmp_path):
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    now = int(time.time() * 1000) // 15_000 * 15_000
    real = Server(pyroscope.NewerPyroscope(processes, tmp_path, program).url)
    store = Server(Agent(processes, tmp_path, STORE).wait_ready().url)
    for server in (real, store):
        push_values(server, now)
    request = {"profileTypeID": CPU, "start": now - 60_000, "end": now}

    # Its second storage finds nothing without the name of a service.
    def sums(server):
        return [points(json.loads(server.ask("SelectSeries", labelSelector=f'{{service_name="{name}"}}', step=60, groupBy=["pod"], **request).body))
                for name in ("values", "single")]
    # It writes what came some moments later.
    wait_until(lambda: sums(real) == sums(store), 20, "all is there")
    for service in ("values", "single", "nobody"):
        for method, form, more in STEPS:
            answers = [form(json.loads(server.ask(method, labelSelector=f'{{service_name="{service}"}}', **request, **more).body))
                       for server in (real, store)]
            assert answers[0] == answers[1], (service, method, more)
            assert answers[0] or service == "nobody" or more.get("queryType") == OF_SPANS["queryType"]
    # Each finds the profile of its own name, and no other.
    for server in (real, store):
        answer = json.loads(server.ask("SelectSeries", labelSelector='{service_name="values",pod="c"}', step=60, exemplarType="EXEMPLAR_TYPE_INDIVIDUAL", **request).body)
        (example,) = answer["series"][0]["points"][0]["exemplars"]
        for method, total in (("SelectMergeStacktraces", lambda a: int(a["flamegraph"]["total"])),
                              ("SelectMergeProfile", lambda a: sum(int(s["value"][0]) for s in a["sample"]))):
            named = {"labelSelector": '{service_name="values"}', "profileIdSelector": [example["profileId"]], **request}
            assert total(json.loads(server.ask(method, **named).body)) == int(example["value"]) == 1007, method
        answer = json.loads(server.ask("SelectMergeStacktraces", labelSelector='{service_name="values"}', profileIdSelector=["7c9e6679-7425-40de-944b-e07fc1f90ae7"],
                                       **request).body)
        assert int(answer["flamegraph"].get("total", 0)) == 0
    # Mistakes, which are not always told as such by the real one.
    for more in ({"step": 15}, {"step": 0, **OF_PROFILES}, {"step": 15, **OF_SPANS, "exemplarType": "EXEMPLAR_TYPE_INDIVIDUAL"}):
        answers = [server.ask("SelectHeatmap", labelSelector='{service_name="values"}', **request, **more) for server in (real, store)]
        assert answers[0].status != 200 and answers[1].code == "invalid_argument", more
    # As the API is described; the real one takes any.
    limited = {"labelSelector": '{service_name="values"}', "groupBy": ["pod"], "step": 15, "limit": 1, **OF_PROFILES, **request}
    (first,) = heatmap(json.loads(store.ask("SelectHeatmap", **limited).body))
    assert first[0] == ["pod=c"] and len(heatmap(json.loads(real.ask("SelectHeatmap", **limited).body))) == 1


@pytest.mark.parametrize("most", [1, 16, 100])
def test_pruned_across_services(pair, most):
    """The real one prunes parts of its storage before it joins them, and which parts depends on the hour: sums are equal, not nodes."""
    def ask(server, most=most):
        return flamegraph(server.json("SelectMergeStacktraces", profileTypeID=CPU, labelSelector=store_questions.PLAIN, maxNodes=most,
                                      start=pair.begin, end=pair.begin + SPAN))
    real, store = pair.both(ask)
    assert store["total"] == real["total"] and len(store["nodes"]) < len(ask(pair.store, 0)["nodes"])
    values = {node.path: node.values for node in store["nodes"]}
    for path, (total, own) in values.items():
        below = sum(v[0] for p, v in values.items() if len(p) == len(path) + 1 and p[:-1] == path)
        assert total == own + below, path


def test_compressed_answer_says_the_same(pair):
    body = json.dumps({"profileTypeID": CPU, "labelSelector": store_questions.PLAIN, "start": pair.begin,
                       "end": pair.begin + SPAN}).encode()

    def ask(server):
        plain, packed = (server.post(SERVICE + "SelectMergeStacktraces", body, Accept_Encoding=a) for a in ("identity", "gzip"))
        assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip" and unzip(packed) == plain.body
        return flamegraph(json.loads(plain.body))
    real, store = pair.both(ask)
    assert store == real


def settings(server):
    """What a user of Grafana's app does: sets, sees it, is late, deletes."""
    def ask(method, **request):
        answer = server.post(store_mistakes.SETTINGS + method, json.dumps(request).encode())
        return answer.status, json.loads(answer.body)

    def seen():
        return [(s["name"], s["value"]) for s in ask("Get")[1].get("settings", [])]
    now = int(time.time() * 1000)
    results = [seen()]
    for name, value, at in (("b", "1", now), ("a", "2", now), ("b", "3", now + 1), ("b", "late", now - 5)):
        status, body = ask("Set", setting={"name": name, "value": value, "modifiedAt": str(at)})
        results += [status, {k: v for k, v in body.get("setting", body).items() if k != "modifiedAt"}, seen()]
    results += [ask("Delete", name="a"), seen(), ask("Delete", name="b"), seen()]
    return results


def test_settings(pair):
    real, store = pair.both(settings)
    assert store == real


def test_types_begin_with_cpu_time(pair):
    """Grafana preselects the first with `cpu` in its id."""
    types = pair.store.json("ProfileTypes", start=pair.begin, end=pair.begin + SPAN)["profileTypes"]
    assert types[0]["ID"] == CPU and len(types) > 3


def test_analyzed_query(pair):
    """The real one of this version counts nothing; what a question will look at has the same shape."""
    request = {"start": pair.begin, "end": pair.begin + SPAN, "query": '{service_name="swarm"}'}
    real, store = pair.both(lambda server: server.json("AnalyzeQuery", **request))
    scope, = store["queryScopes"]
    assert scope["componentType"] == real["queryScopes"][0]["componentType"] and scope["seriesCount"] == scope["profileCount"] == "110"
    assert store["queryImpact"]["totalQueriedSeries"] == "110"
    assert pair.both(lambda server: server.json("AnalyzeQuery", query="{}")) == ({}, {})


def test_build_information(pair):
    """Grafana looks at it to learn what it talks to."""
    real, store = pair.both(lambda server: json.loads(server.get("/api/v1/status/buildinfo").body))
    assert store["status"] == real["status"] == "success" and store["data"].keys() == real["data"].keys()


# ---- a client of others ---------------------------------------------------------------------------------------------------------------


CLI = [
    ("profile", "--query=" + store_questions.PLAIN), ("profile", '--query={service_name="walker"}'),
    ("profile", '--query={service_name="shop"}', "--output=raw"),
    ("profile", '--query={service_name="walker"}', "--function-names-only"),
    ("profile", '--query={service_name="wide"}', "--function-names-only", "--max-nodes=20"),
    ("profile", "--profile-type=" + store_questions.ALLOCATED), ("profile", '--query={service_name="nobody"}'),
    ("profile", '--query={service_name="walker"}', "--stacktrace-selector=main", "--stacktrace-selector=walk"), ("profile", "--query={a"),
    ("series",), ("series", '--query={host="alpha"}', "--output=json"), ("series", "--label-names=service_name", "--label-names=host"),
    ("top", "--query=" + store_questions.PLAIN),
    ("top", "--query=" + store_questions.PLAIN, "--label-names=host", "--label-names=tier", "--output=json"),
    ("top", "--query=" + store_questions.PLAIN, "--label-names=pod", "--top-n=5"),
    ("label-values-cardinality",), ("label-values-cardinality", '--query={service_name="shop"}', "--top-n=3"),
]


def profilecli(server, begin, *arguments):
    """Exit code and what it printed, but for its log's times and the URL."""
    times = [f"--{name}={ms // 1000}" for name, ms in (("from", begin), ("to", begin + SPAN))]
    result = subprocess.run([paths.BUILD / "pyroscope" / "profilecli", "query", *arguments, *times, f"--url={server.url}"],
                            capture_output=True, text=True,
                            timeout=30, check=False)
    return result.returncode, result.stdout, re.sub(r"url=\S+|ts=\S+|caller=\S+", "", result.stderr)


def sorted_profile(text):
    """
    The console's form of a profile: locations and mappings come in any order. Without the period, which is always a second in the real one, and
    without the time, which is that of the first whole hour.
    """
    text = re.sub(r"^(Period|Time|Duration): .*\n| M=\d+", "", text, flags=re.M)
    places = dict(re.findall(r"^ +(\d+): 0x\w+ (.*(?:\n {10,}.*)*)", text.partition("\nLocations\n")[2], re.M))
    head, _, samples = text.partition("\nLocations\n")[0].partition("\nSamples:\n")
    kind, *lines = samples.splitlines() or [""]
    return head, kind, sorted((v, [places[n] for n in stack.split()]) for v,
                              stack in (line.strip().split(":", 1) for line in lines if ":" in line))


@pytest.mark.parametrize("arguments", CLI, ids=" ".join)
def test_profilecli(pair, arguments):
    def ask(server):
        code, out, log = profilecli(server, pair.begin, *arguments)
        if code:
            return code, out
        if "--output=raw" in arguments:
            return len(out.splitlines())
        return (code, sorted_profile(out), log) if arguments[0] == "profile" else (code, out, log)
    judge("profilecli " + " ".join(arguments), *pair.both(ask))


def test_profilecli_writes_the_same_pprof(pair, tmp_path):
    def ask(server):
        path = tmp_path / f"{server.url[-5:]}.pprof"
        code, _, log = profilecli(server, pair.begin, "profile", f"--output=pprof={path}", '--query={service_name=~"shop|walker"}')
        assert code == 0, log
        message = store_data.protos.pprof.Profile.FromString(store_data.gzip.decompress(path.read_bytes()))
        return profile(store_api.json_format.MessageToDict(message))
    real, store = pair.both(ask)
    assert store == real and len(store["stacks"]) > 15


def test_period_and_time_of_a_merged_profile(pair):
    """As they were pushed and asked for. (The real one always says a second.)"""
    answer = pair.store.json("SelectMergeProfile", profileTypeID=CPU, labelSelector='{service_name="shop"}', start=pair.begin,
                             end=pair.begin + SPAN)
    assert int(answer["period"]) == store_data.TICK
    assert int(answer["timeNanos"]) == (pair.begin + SPAN) * 10**6 and int(answer["durationNanos"]) == SPAN * 10**6


def test_profile_without_a_time_is_of_now(pair):
    """
    And one of some hours ago is kept, other than in the real one, as long as it is younger than max_age. These change what is newest and
    oldest: no test may come after this one.
    """
    p = Pprof(0).add("main", TICK)
    for answer in pair.both(lambda server: server.push((cpu_labels("timeless"), p.bytes()))):
        assert answer.status == 200, answer
    around = int(time.time() * 1000)
    for graph in pair.both(lambda server: server.json("SelectMergeStacktraces", profileTypeID=CPU, labelSelector='{service_name="timeless"}',
                                                      start=around - 60_000, end=around + 60_000)["flamegraph"]):
        assert int(graph["total"]) == TICK
    old = Pprof(pair.begin - 150 * 60_000).add("main", TICK).bytes()
    assert [a.status for a in pair.both(lambda server: server.push((cpu_labels("old"), old)))] == [400, 200]
