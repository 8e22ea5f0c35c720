# SPDX-License-Identifier: Apache-2.0
"""The folder grafana/ as a test sees it: dashboards, provisioning, and the variables in texts as Grafana fills them in."""
import json
import re

from . import paths

FOLDER = paths.TOP / "grafana"
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
PYROSCOPE, PROMETHEUS = "grafana-pyroscope-datasource", "prometheus"
REFERENCE = re.compile(r"\$\{([a-zA-Z_]\w*)((?:\.\w+)*)(?::(\w+))?\}|\$([a-zA-Z_]\w*)|\[\[(\w+)")


def dashboards():
    """File name → dashboard."""
    return {p.name: json.loads(p.read_text()) for p in sorted((FOLDER / "dashboards").glob("*.json"))}


def panels(dashboard):
    """All panels, those inside of folded rows too."""
    for panel in dashboard.get("panels", []):
        yield panel
        yield from panel.get("panels", [])


def targets(dashboard, plugin):
    """(panel, target) of one kind of data source."""
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            if (target.get("datasource") or panel.get("datasource") or {}).get("type") == plugin:
                yield panel, target


def variables(dashboard):
    return {v["name"]: v for v in dashboard["templating"]["list"]}


def strings(node, path=""):
    """(path, text) of every string below a node."""
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from strings(value, f"{path}.{key}" if path else key)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, path)


def references(text):
    """[(variable, member path, format)] that Grafana would fill in."""
    return [(m[1] or m[4] or m[5], m[2] or "", m[3] or "") for m in REFERENCE.finditer(text)]


def escape_regex(value):
    """The format `regex` of one value."""
    return re.sub(r"[\\^$*+?.()|\[\]{}/]", lambda m: "\\" + m[0], value)


def fill(text, values):
    """Grafana's filling in of variables: `values` has a list for what was chosen, a text for what stands for All. Others stay."""
    def one(match):
        value = values.get(match[1] or match[4], match[0])
        if isinstance(value, str):
            return value
        if match[3] == "regex":
            value = [escape_regex(v) for v in value]
            return value[0] if len(value) == 1 else f"({'|'.join(value)})"
        return value[0] if len(value) == 1 else "{" + ",".join(value) + "}"
    return REFERENCE.sub(one, text)
