# SPDX-License-Identifier: Apache-2.0
"""What must hold for the queries of dashboards: profile types and labels that the agent sends, metrics that it has."""
import re

from . import promql
from .grafana import CPU, PROMETHEUS, PYROSCOPE, fill, references, targets, variables

EMITTED = {CPU}
# Of other agents, for the dashboard that says so.
FOREIGN = {"offcpu:offcpu:nanoseconds::", "off_cpu:off_cpu:nanoseconds::"}
LABELS = {"service_name", "host", "namespace", "container", "compose_project", "compose_service"}
SCRAPE = {"job", "instance"}
KEYS = {"refId": str, "datasource": dict, "queryType": str, "profileTypeId": str, "labelSelector": str, "groupBy": list, "limit": int}


def lint_profiles(dashboard):
    for variable in variables(dashboard).values():
        if variable["type"] == "query" and variable["datasource"]["type"] == PYROSCOPE:
            yield from _label_variable(dashboard, variable)
    for panel, target in targets(dashboard, PYROSCOPE):
        for finding in [*_target_shape(panel, target), *_profile_type(dashboard, target.get("profileTypeId", "")),
                        *_selector(dashboard, target), *_legend(panel, target)]:
            yield f"{panel['title']} {target.get('refId')}: {finding}"


def _label_variable(dashboard, variable):
    query = variable["query"]
    if query.get("type") != "labelValue" or query.get("labelName") not in LABELS:
        yield f"variable {variable['name']}: {query}"
    for finding in _profile_type(dashboard, query.get("profileTypeId", "")):
        yield f"variable {variable['name']}: {finding}"


def _profile_type(dashboard, text):
    chosen = {text}
    for name, _, _ in references(text):
        chosen = {o["value"] for o in variables(dashboard).get(name, {}).get("options", [])}
    allowed = EMITTED | FOREIGN if dashboard.get("uid") == "xagent-off-cpu" else EMITTED
    for one in chosen - allowed or ({""} - chosen if not chosen else ()):
        yield f"profile type {one!r} is not one of ours"


def _target_shape(panel, target):
    for key, value in target.items():
        if not isinstance(value, KEYS.get(key, ())):
            yield f"key {key} = {value!r}"
    kind, group = target.get("queryType"), target.get("groupBy", [])
    if kind not in ("metrics", "profile") or (kind == "profile") != (panel["type"] == "flamegraph"):
        yield f"queryType {kind!r} in a panel {panel['type']}"
    if set(group) - LABELS or (kind == "profile" and group):
        yield f"groupBy {group}"


def _selector(dashboard, target):
    text = target.get("labelSelector", "")
    hard = {name: ["ns/app.py", 'a+b (c)[d]{e}|f'] for name in variables(dashboard)}
    for values in (hard, dict.fromkeys(hard, ".*")):
        try:
            matchers = promql.Selector(fill(text, values)).matchers
        except promql.Malformed as error:
            yield f"selector {text}: {error}"
            return
        for label in {m[0] for m in matchers} - LABELS:
            yield f"selector {text}: we send no label {label}"
    for _, operator, value in promql.Selector(text).matchers:
        if "$" in value and (operator not in ("=~", "!~") or ":regex}" not in value):
            yield f"selector {text}: several values, or All, need =~ and the format regex"


def _legend(panel, target):
    name = panel.get("fieldConfig", {}).get("defaults", {}).get("displayName", "")
    for label in re.findall(r"\$\{__field\.labels\.(\w+)\}", name):
        if label not in target.get("groupBy", []):
            yield f"the name has {label}, by which nothing is grouped"


def expressions(dashboard):
    """(where, expression, legend) of panels, and of variables that ask for label values."""
    for panel, target in targets(dashboard, PROMETHEUS):
        yield f"{panel['title']} {target['refId']}", target.get("expr", ""), target.get("legendFormat", "")
    for variable in variables(dashboard).values():
        if variable["type"] == "query" and variable["datasource"]["type"] == PROMETHEUS:
            match = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"].get("query", ""))
            yield f"variable {variable['name']}", match[1] if match else "", "{{%s}}" % match[2] if match else ""


def lint_metrics(dashboard, metrics):
    """Against one scrape of an agent (harness.metrics)."""
    for where, text, legend in expressions(dashboard):
        try:
            expression = promql.Expression(text)
        except promql.Malformed as error:
            yield f"{where}: {text}: {error}"
            continue
        for finding in _expression(expression, legend, metrics):
            yield f"{where}: {finding}"


def _expression(expression, legend, metrics):
    labels = set(SCRAPE)
    for use in expression.uses:
        yield from _use(use, metrics)
        labels.update(*(have for have, _ in metrics.series(use.metric)))
    for label in set(expression.grouping) - labels:
        yield f"grouped by {label}, which is no label of its metrics"
    for label in re.findall(r"\{\{(\w+)\}\}", legend):
        if label not in (expression.grouping or labels):
            yield f"the legend has {label}, which the result does not have"


def _use(use, metrics):
    series = metrics.series(use.metric)
    if not series:
        yield f"the agent has no metric {use.metric}"
        return
    for label, _, value in use.matchers:
        have = {s[label] for s, _ in series if label in s}
        if label not in SCRAPE and not have:
            yield f"{use.metric} has no label {label}"
        elif label not in SCRAPE and "$" not in value:
            for one in set(value.split("|")) - have:
                yield f"{use.metric}: {label} is never {one!r}"
    yield from _use_of_type(use, metrics.types.get(use.metric, "counter"))


def _use_of_type(use, kind):
    """Series of a histogram (their own names have no type) count, as counters do."""
    if (use.function in promql.COUNTING) != use.ranged:
        yield f"{use.metric}: a range goes with rate or increase"
    elif (kind == "counter") != use.ranged:
        yield f"{use.metric} is a {kind}: {'rate or increase is missing' if kind == 'counter' else 'has no rate'}"
