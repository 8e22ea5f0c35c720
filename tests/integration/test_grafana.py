# SPDX-License-Identifier: Apache-2.0
"""
The folder grafana/: no Grafana runs here, so a linter knows what one would take (harness/grafana_lint.py, grafana_queries.py). It is shown
to fail on broken dashboards; the metrics are those of a real agent, and the real Pyroscope answers the panels' queries.
"""
import copy
import sys
import time

import pytest

from harness import grafana, metrics, paths, promql, pyroscope
from harness.agent import config
from harness.grafana_lint import lint
from harness.grafana_queries import expressions, lint_metrics, lint_profiles
from harness.processes import free_port

BOARDS = grafana.dashboards()
SOURCES = {"pyroscope": grafana.PYROSCOPE, "xagent": grafana.PYROSCOPE, "prometheus": grafana.PROMETHEUS}
# Metrics of the agent that are on no panel: their sums or parts are, or nobody acts on them.
LEFT_OUT = {"pyroscope_write_latency_sum", "pyroscope_write_latency_count", "xagent_component_evaluation_seconds_sum",
            "xagent_component_evaluation_seconds_count", "xagent_loop_turns_total", "xagent_kernel_symbols_read_total"}


def board(name):
    return BOARDS[f"{name}.json"]


@pytest.mark.parametrize("name", ["agents", "fleet", "off-cpu", "service"])
def test_dashboard(name):
    assert lint(board(name), SOURCES, BOARDS.values()) == []
    assert list(lint_profiles(board(name))) == []


def test_no_dashboard_is_forgotten():
    assert sorted(BOARDS) == ["agents.json", "fleet.json", "off-cpu.json", "service.json"]
    assert len({d["uid"] for d in BOARDS.values()}) == len({d["title"] for d in BOARDS.values()}) == len(BOARDS)


def test_agent_panels_say_what_is_normal():
    for panel in grafana.panels(board("agents")):
        if panel["type"] != "row":
            assert "\n\nNormal: " in panel["description"] and "\n\nIf not: " in panel["description"], panel["title"]


def test_provisioning():
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed")
    found = [yaml.safe_load(p.read_text()) for p in sorted((grafana.FOLDER / "datasources").glob("*.yaml"))]
    sources = [source for file in found for source in file["datasources"]]
    assert {s["uid"]: s["type"] for s in sources} == SOURCES and len(sources) == len(SOURCES)
    assert [s["uid"] for s in sources if s["isDefault"]] == ["pyroscope"]
    assert all(s["access"] == "proxy" and s["url"].startswith("http://") and s["name"] for s in sources)
    file = yaml.safe_load((grafana.FOLDER / "dashboards" / "dashboards.yaml").read_text())
    (provider,) = file["providers"]
    assert all(f["apiVersion"] == 1 for f in [*found, file])
    assert provider["type"] == "file" and provider["options"]["path"] == "/etc/grafana/provisioning/dashboards"
    (job,) = yaml.safe_load((grafana.FOLDER / "prometheus.yaml").read_text())["scrape_configs"]
    assert job["job_name"] == "xagent" and job["static_configs"][0]["targets"] == ["127.0.0.1:12345"]


def put(*path_and_value):
    """A change of a dashboard: the value at a path of keys and indices."""
    *path, last, value = path_and_value

    def change(d):
        for key in path:
            d = d[key]
        d[last] = value
    return change


def drop(*path):
    def change(d):
        for key in path[:-1]:
            d = d[key]
        del d[path[-1]]
    return change


def panel(number, *rest):
    return put("panels", number, *rest)


SELECTOR = ("targets", 0, "labelSelector")
# Each breaks the fleet dashboard in one place. Its panels: 0 stat, 1 and 2 timeseries …
BROKEN = [
    (put("id", 7), "id: must be absent"),
    (put("uid", "xagent-" + "x" * 34), "at most 40"),
    (put("schemaVersion", 43), "schemaVersion 43"),
    (put("tags", []), "tag xagent"),
    (drop("time"), "time: missing"),
    (panel(1, "id", 1), "panel id 1: used 2 times"),
    (panel(2, "targets", 1, "refId", "A"), "refIds ['A', 'A']"),
    (panel(0, "type", "graph"), "panel type 'graph'"),
    (panel(0, "description", "cores"), "without query or description"),
    (panel(0, "targets", []), "without query or description"),
    (panel(1, "gridPos", "x", 3), "CPU by host: lies on CPU used"),
    (panel(2, "gridPos", "w", 11), "gridPos"),
    (panel(1, *SELECTOR, "{host=~`${hosts:regex}`}"), "$hosts is not defined"),
    (panel(1, "title", "at [[place]]"), "$place is not defined"),
    (panel(1, "title", "${__fields.labels.host}"), "$__fields is not defined"),
    (panel(1, *SELECTOR, "{host=~`${host:regexp}`}"), "format 'regexp'"),
    (put("templating", "list", 1, "name", "hosts"), "variable hosts: not used"),
    (put("templating", "list", 1, "allValue", ""), "All must be .*"),
    (put("templating", "list", 1, "type", "adhoc"), "type 'adhoc'"),
    (put("templating", "list", 1, "query", "labelName", "hostname"), "hostname"),
    (put("templating", "list", 1, "query", "profileTypeId", ""), "profile type '' is not one of ours"),
    (put("templating", "list", 0, "current", "value", "phlare"), "'phlare' of type 'grafana-pyroscope-datasource' is not provisioned"),
    (panel(1, "datasource", "uid", "elsewhere"), "'elsewhere'"),
    (panel(1, "targets", 0, "datasource", "type", "phlare"), "no variable for phlare"),
    (drop("panels", 1, "targets", 0, "datasource"), "a query without data source"),
    (panel(1, "fieldConfig", "defaults", "unit", "cores"), "unit 'cores'"),
    (panel(2, "fieldConfig", "overrides", 0, "properties", 0, {"id": "unit", "value": "parsec"}), "unit 'parsec'"),
    (panel(2, "fieldConfig", "overrides", 0, "matcher", "options", "Q"), "override for Q"),
    (panel(1, "links", [{"url": "/d/xagent-fleets?var-host=a"}]), "no dashboard xagent-fleets"),
    (panel(1, "links", [{"url": "/d/xagent-service?var-pod=a"}]), "has no variable pod"),
    (panel(1, "targets", 0, "profileTypeId", "process_cpu:samples:count:cpu:nanoseconds"), "is not one of ours"),
    (panel(1, "targets", 0, "profileTypeId", "offcpu:offcpu:nanoseconds::"), "is not one of ours"),
    (panel(1, "targets", 0, "queryType", "both"), "queryType 'both'"),
    (panel(1, "targets", 0, "queryType", "profile"), "queryType 'profile' in a panel timeseries"),
    (panel(1, "targets", 0, "limit", "20"), "key limit = '20'"),
    (panel(1, "targets", 0, "expr", "up"), "key expr"),
    (panel(1, "targets", 0, "groupBy", ["pod"]), "groupBy ['pod']"),
    (panel(1, "targets", 0, "groupBy", []), "by which nothing is grouped"),
    (panel(1, *SELECTOR, '{host=~"${host:regex}"}'), "unknown escape sequence"),
    (panel(1, *SELECTOR, "{host=`${host:regex}`}"), "need =~ and the format regex"),
    (panel(1, *SELECTOR, "{host=~`$host`}"), "need =~ and the format regex"),
    (panel(1, *SELECTOR, "{hostname=~`.*`}"), "we send no label hostname"),
    (panel(1, *SELECTOR, "{host=~`.*`"), "ends before"),
    (panel(1, *SELECTOR, "{host}"), "instead of ="),
]


@pytest.mark.parametrize("change, expected", BROKEN, ids=[expected for _, expected in BROKEN])
def test_linter_sees_what_is_broken(change, expected):
    broken = copy.deepcopy(board("fleet"))
    change(broken)
    others = [d for d in BOARDS.values() if d["uid"] != "xagent-fleet"]
    found = [*lint(broken, SOURCES, [broken, *others]), *lint_profiles(broken)]
    assert any(expected in finding for finding in found), found


@pytest.mark.parametrize("change, expected", [
    (put("templating", "list", 7, "options", 1, "value", "soon"), "'soon' is no time span"),
    (put("templating", "list", 7, "query", "now : 0s"), "query and options differ"),
])
def test_linter_sees_a_broken_comparison(change, expected):
    broken = copy.deepcopy(board("service"))
    change(broken)
    assert any(expected in finding for finding in lint(broken, SOURCES, BOARDS.values()))


SCRAPE = metrics.parse("""# TYPE jobs_total counter
jobs_total{end="good",place="a"} 1
jobs_total{end="bad",place="a"} 0
# TYPE queue gauge
queue 3
# TYPE wait histogram
wait_bucket{le="1"} 1
wait_bucket{le="+Inf"} 1
wait_sum 1
wait_count 1
""")


@pytest.mark.parametrize("expression, legend", [
    ('sum by (end) (rate(jobs_total{end=~"good|bad",instance=~"$instance"}[$__rate_interval]))', "{{end}}"),
    ('topk(3, sum (increase(jobs_total{end!="good"}[5m])) by (instance)) / 1e3', "{{instance}}"),
    ("histogram_quantile(0.9, sum by (le) (rate(wait_bucket[1m])))", ""),
    ("count (queue > 2) or vector(0)", ""),
    ("rate(jobs_total[1m]) * on (instance) group_left () queue", "{{instance}}"),
])
def test_expressions_that_are_right(expression, legend):
    assert list(lint_metrics(one_query(expression, legend), SCRAPE)) == []


@pytest.mark.parametrize("expression, legend, expected", [
    ("rate(job_total[1m])", "", "no metric job_total"),
    ("sum(rate(jobs_total{ende=\"good\"}[1m]))", "", "has no label ende"),
    ("sum(rate(jobs_total{end=\"fine\"}[1m]))", "", "end is never 'fine'"),
    ("sum(rate(jobs_total{end!~\"good|fine\"}[1m]))", "", "end is never 'fine'"),
    ("sum by (pod) (rate(jobs_total[1m]))", "", "grouped by pod"),
    ("sum by (end) (rate(jobs_total[1m]))", "{{place}}", "the legend has place"),
    ("sum(jobs_total)", "", "is a counter: rate or increase is missing"),
    ("rate(queue[1m])", "", "is a gauge: has no rate"),
    ("rate(jobs_total)", "", "a range goes with rate"),
    ("max(queue[5m])", "", "a range goes with rate"),
    ("sums(queue)", "", "unknown function sums"),
    ("sum(queue", "", "not closed"),
    ("sum(queue))", "", "too many"),
    ("queue{end}", "", "instead of ="),
    ("queue & 1", "", "at '& 1'"),
    ("1 + 1", "", "no metric"),
    ("", "", "no metric"),
])
def test_expressions_that_are_wrong(expression, legend, expected):
    found = list(lint_metrics(one_query(expression, legend), SCRAPE))
    assert len(found) == 1 and expected in found[0], found


def one_query(expression, legend):
    target = {"refId": "A", "expr": expression, "legendFormat": legend, "datasource": {"type": "prometheus"}}
    return {"panels": [{"title": "one", "targets": [target]}], "templating": {"list": []}}


@pytest.mark.bpf
def test_metrics_of_a_real_agent(start_agent):
    """Every metric, label and value of a panel is one of the agent; and every metric of the agent is on a panel."""
    text = config("http://127.0.0.1:1", interval="1s").replace("[pyroscope.write", "[pyroscope.store.here.receiver, pyroscope.write")
    # An address that is not asked in the time of the test: its metrics are there all the same.
    scraped = """
pyroscope.scrape "nobody" {
	targets         = [{"__address__" = "127.0.0.1:1"}]
	forward_to      = [pyroscope.write.endpoint.receiver]
	scrape_interval = "24h"
}
"""
    # Nobody sends it anything.
    scraped += f"""
pyroscope.receive_http "nobody" {{
	http {{
		listen_address = "127.0.0.1"
		listen_port    = {free_port()}
	}}
	forward_to = [pyroscope.relabel.nobody.receiver]
}}

pyroscope.relabel "nobody" {{
	forward_to = [pyroscope.write.endpoint.receiver]
}}
"""
    text = text.replace("\n\tsample_rate", "\n\tevents {\n\t\twall { }\n\t}\n\tsample_rate", 1)
    agent = start_agent(text + 'pyroscope.store "here" { }\n' + scraped).wait_ready()
    names = ("pyroscope_ebpf_pprofs_total", "xagent_event_cpu_ratio", "xagent_wall_thread_seconds_total")
    scrape = agent.wait_metric(lambda m: all(name in m.names() for name in names) and m.get(names[0]), 30, "a profile, what an event costs")
    assert list(lint_metrics(board("agents"), scrape)) == []
    shown = {use.metric for _, text, _ in expressions(board("agents")) for use in promql.Expression(text).uses}
    missing = scrape.names() - shown - LEFT_OUT
    assert not missing, f"put these on a panel of grafana/dashboards/agents.json, or into LEFT_OUT: {sorted(missing)}"


SERVICES = ["ns/app.py", "a+b (c)", "other"]
CHOSEN = {"service_name": SERVICES[:2], "compare_service": SERVICES[:2], "host": ["one.example"], "compare_host": ["one.example", "two"]}


@pytest.fixture(params=["pyroscope", "xagent"])
def server(request, processes, tmp_path, start_agent):
    """What may stand behind the data source: the real server, or an agent's store."""
    if request.param == "xagent":
        return pyroscope.Querier(start_agent('pyroscope.store "here" { }\n').wait_ready().url)
    program = paths.BUILD / "pyroscope" / "pyroscope"
    if not program.exists():
        pytest.skip(f"no {program}: tests/pyroscope/build.sh builds it")
    return pyroscope.Pyroscope(processes, tmp_path, program)


def push_profiles(server):
    """One profile of 30 ms for each service."""
    pytest.importorskip("google.protobuf", reason="python3-protobuf is not installed")
    sys.path.append(str(paths.TESTS / "pyroscope"))
    from test_standin import make_body, make_profile, post
    for name in SERVICES:
        labels = {"__name__": "process_cpu", "service_name": name, "host": "one.example"}
        assert post(f"{server.url}/push.v1.PusherService/Push", make_body(make_profile(), labels))[0] == 200


def answer(server, target, values):
    """Nanoseconds that the server has for a query of a panel, with these variables."""
    now = int(time.time() * 1000)
    request = {"profileTypeID": grafana.fill(target["profileTypeId"], values), "start": now - 600_000, "end": now + 60_000,
               "labelSelector": grafana.fill(target["labelSelector"], values)}
    if target["queryType"] == "profile":
        return int(server.query("SelectMergeStacktraces", **request)["flamegraph"].get("total", 0))
    series = server.query("SelectSeries", **request, step=15, groupBy=target["groupBy"], limit=target.get("limit", 0)).get("series", [])
    return sum(point["value"] for s in series for point in s["points"])


def test_servers_answer_every_panel(server):
    """Every query of every panel, with everything chosen, and with names that regular expressions need to escape."""
    push_profiles(server)
    for file, dashboard in BOARDS.items():
        known = grafana.variables(dashboard)
        everything = {n: [v["options"][0]["value"]] if v["type"] == "custom" else ".*" for n, v in known.items()}
        some = {**everything, **{n: v for n, v in CHOSEN.items() if n in known}}
        for panel_, target in grafana.targets(dashboard, grafana.PYROSCOPE):
            got = answer(server, target, everything), answer(server, target, some)
            assert got == expected_value(target, dashboard), f"{file}: {panel_['title']} {target['refId']}"


def expected_value(target, dashboard):
    """Nanoseconds of all services, and of two of them where the panel lets them be chosen."""
    each, selector = 30_000_000, target["labelSelector"]
    if dashboard["uid"] == "xagent-off-cpu":
        return 0, 0
    if 'service_name="other"' in selector:
        return each, each
    if 'service_name!="other"' in selector:
        return 2 * each, 2 * each
    return 3 * each, (2 if "service_name=~" in selector else 3) * each
