# SPDX-License-Identifier: Apache-2.0
"""
What must hold for every dashboard, whatever it shows: each rule yields findings. Facts of Grafana's classic model; the rules that look into
queries are in grafana_queries.py.
"""
import itertools
import re

from .grafana import PROMETHEUS, PYROSCOPE, panels, references, strings, variables

SCHEMA = range(38, 43)  # what Grafana 11 to 13 take; older ones are migrated
DATA_PANELS = {"timeseries", "stat", "table", "flamegraph"}
PANELS = DATA_PANELS | {"row", "text"}
# Of Grafana's units those that are good for something here.
UNITS = {"none", "short", "percent", "percentunit", "bytes", "Bps", "ns", "s", "cps", "dateTimeFromNow"}
FORMATS = {"", "regex", "queryparam"}
BUILT_IN = {"__all": "", "__rate_interval": "", "__range": "", "__url_time_range": "", "__value": ".raw", "__field": ".labels."}
TIME_SPAN = re.compile(r"\d+[smhdw]")


def lint(dashboard, sources, boards=()):
    """Findings of all rules. `sources`: uid → type of what is provisioned; `boards`: all dashboards, for links between them."""
    rules = [envelope, ids, panel_shape, layout, variable_names, variable_shape, units, overrides]
    found = [finding for rule in rules for finding in rule(dashboard)]
    return [*found, *data_sources(dashboard, sources), *links(dashboard, boards or [dashboard])]


def envelope(d):
    if d.get("id") is not None:
        yield "id: must be absent"
    if not re.fullmatch(r"xagent-[a-z-]{1,33}", d.get("uid", "")):
        yield f"uid {d.get('uid')!r}: xagent-…, at most 40 characters"
    if d.get("schemaVersion") not in SCHEMA:
        yield f"schemaVersion {d.get('schemaVersion')}: not in {SCHEMA}"
    if "xagent" not in d.get("tags", []):
        yield "tags: the links between the dashboards need the tag xagent"
    for key in ("title", "time", "templating", "annotations", "panels", "refresh", "timezone"):
        if not d.get(key):
            yield f"{key}: missing"


def ids(d):
    seen = [p.get("id") for p in panels(d)]
    for number in sorted({i for i in seen if seen.count(i) > 1}, key=str):
        yield f"panel id {number}: used {seen.count(number)} times"
    for panel in panels(d):
        refs = [t.get("refId") for t in panel.get("targets", [])]
        if len(set(refs)) != len(refs) or not all(refs):
            yield f"{panel.get('title')}: refIds {refs}"


def panel_shape(d):
    for p in panels(d):
        name = p.get("title") or f"panel {p.get('id')}"
        if p.get("type") not in PANELS:
            yield f"{name}: panel type {p.get('type')!r}"
        if not isinstance(p.get("id"), int) or not p.get("title"):
            yield f"{name}: without id or title"
        if p.get("type") in DATA_PANELS and (not p.get("targets") or len(p.get("description", "")) < 30):
            yield f"{name}: without query or description"
        if p.get("type") == "row" and p.get("collapsed") is False and p.get("panels"):
            yield f"{name}: an open row holds its panels beside it"


def _cells(p):
    g = p["gridPos"]
    return set(itertools.product(range(g["x"], g["x"] + g["w"]), range(g["y"], g["y"] + g["h"])))


def layout(d):
    taken = {}
    for p in d.get("panels", []):
        g = p.get("gridPos", {})
        if not all(isinstance(g.get(k), int) for k in "hwxy") or g["w"] < 1 or g["h"] < 1 or min(g["x"], g["y"]) < 0 or g["x"] + g["w"] > 24:
            yield f"{p.get('title')}: gridPos {g}"
            continue
        for other in {taken[c] for c in _cells(p) if c in taken}:
            yield f"{p.get('title')}: lies on {other}"
        taken.update(dict.fromkeys(_cells(p), p.get("title")))


def _known(name, member):
    return name in BUILT_IN and member.startswith(BUILT_IN[name]) and bool(member) == bool(BUILT_IN[name])


def variable_names(d):
    used = set()
    for path, text in strings(d):
        for name, member, form in references(text):
            used.add(name)
            if not _known(name, member) and name not in variables(d):
                yield f"{path}: ${name} is not defined"
            if form not in FORMATS:
                yield f"{path}: format {form!r} of ${name}"
    for name in variables(d).keys() - used:
        yield f"variable {name}: not used"


def variable_shape(d):
    names = [v.get("name") for v in d["templating"]["list"]]
    if len(set(names)) != len(names):
        yield f"variables: {names}"
    for v in d["templating"]["list"]:
        if v.get("type") not in ("datasource", "query", "custom") or "current" not in v:
            yield f"variable {v.get('name')}: type {v.get('type')!r}, or no current value"
        if v.get("type") == "query" and not (isinstance(v.get("query"), dict) and v["query"].get("refId")):
            yield f"variable {v['name']}: its query needs a refId"
        if v.get("type") == "query" and v.get("multi") and v.get("allValue") != ".*":
            yield f"variable {v['name']}: All must be .*"
        if v.get("type") == "custom" and v["query"] != ", ".join(f"{o['text']} : {o['value']}" for o in v["options"]):
            yield f"variable {v['name']}: query and options differ"
    for p in panels(d):
        yield from _time_shift(p, variables(d))


def _time_shift(panel, known):
    for name, _, _ in references(panel.get("timeShift") or ""):
        for option in known.get(name, {}).get("options", []):
            if not TIME_SPAN.fullmatch(option["value"]):
                yield f"{panel['title']}: {option['value']!r} is no time span"


def _sources_of(node):
    if isinstance(node, dict):
        if isinstance(node.get("datasource"), dict):
            yield node["datasource"]
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        yield from _sources_of(child)


def data_sources(d, sources):
    for p in panels(d):
        if p.get("type") in DATA_PANELS and not all("datasource" in x for x in [p, *p.get("targets", [])]):
            yield f"{p.get('title')}: a query without data source"
    for source in _sources_of(d):
        kind, uid = source.get("type"), source.get("uid", "")
        for name, _, _ in references(uid):
            variable = variables(d).get(name, {})
            if variable.get("type") != "datasource" or variable.get("query") != kind:
                yield f"data source {uid}: no variable for {kind}"
            uid = variable.get("current", {}).get("value")
        if kind not in (PYROSCOPE, PROMETHEUS) or sources.get(uid) != kind:
            yield f"data source {uid!r} of type {kind!r} is not provisioned"


def units(d):
    for p in panels(d):
        config = p.get("fieldConfig", {})
        given = [config.get("defaults", {}).get("unit")]
        given += [q["value"] for o in config.get("overrides", []) for q in o["properties"] if q["id"] == "unit"]
        for unit in given:
            if unit is not None and unit not in UNITS:
                yield f"{p['title']}: unit {unit!r}"


def overrides(d):
    for p in panels(d):
        refs = {t.get("refId") for t in p.get("targets", [])}
        for o in p.get("fieldConfig", {}).get("overrides", []):
            if o["matcher"]["id"] == "byFrameRefID" and o["matcher"]["options"] not in refs:
                yield f"{p['title']}: override for {o['matcher']['options']}, which is no query"


def links(d, boards):
    """Links to another dashboard lead to one of ours, and set variables that it has."""
    known = {b["uid"]: variables(b) for b in boards if "uid" in b}
    for path, text in strings(d):
        match = re.match(r"/d/([^?]+)\?(.*)", text)
        if not match:
            continue
        if match[1] not in known:
            yield f"{path}: no dashboard {match[1]}"
            continue
        names = re.findall(r"(?:^|&)var-(\w+)=", match[2]) + re.findall(r"\$\{(\w+):queryparam\}", match[2])
        for name in names:
            if name not in known[match[1]]:
                yield f"{path}: {match[1]} has no variable {name}"
