# SPDX-License-Identifier: Apache-2.0
"""The Helm chart rendered without helm: Go's templates are Helm's own language."""
import copy
import json
import os
import shutil
import subprocess
from pathlib import Path

import yaml

from .. import json_schema, paths

CHART = paths.TOP / "deploy" / "helm" / "xagent"
GO = shutil.which("go") or "/usr/local/go/bin/go"


def why_not():
    return None if os.access(GO, os.X_OK) else "not installed: go"


def build(directory):
    """The renderer, built; its path."""
    program = directory / "render"
    environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    result = subprocess.run([GO, "build", "-o", program, Path(__file__).parent / "render.go"], env=environment, capture_output=True,
                            text=True, check=False)
    assert result.returncode == 0, result.stderr
    return program


def _merged(below, above):
    """As Helm merges values: maps member by member, all else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return copy.deepcopy(above)
    return {name: _merged(below.get(name), above[name]) if name in above else copy.deepcopy(below[name]) for name in {**below, **above}}


def default_values():
    return yaml.safe_load((CHART / "values.yaml").read_text())


def problems(values):
    """What the chart's schema says against these values upon the default ones."""
    return json_schema.problems(json.loads((CHART / "values.schema.json").read_text()), _merged(default_values(), values))


class Rendered:
    """The objects of a release; `notes` is what an installation prints."""

    def __init__(self, program, values=None, release="xagent", namespace="xagent"):
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        data = {"Values": _merged(default_values(), values or {}),
                "Release": {"Name": release, "Namespace": namespace, "Service": "Helm"},
                "Chart": {name[0].upper() + name[1:]: value for name, value in chart.items()}}
        result = subprocess.run([program, CHART], input=json.dumps(data), capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        parts = dict(part.split("\n", 1) for part in result.stdout.split("---\n# Source: ")[1:])
        self.notes = parts.pop("NOTES.txt")
        self.objects = [o for text in parts.values() for o in yaml.safe_load_all(text) if o]

    def only(self, kind):
        found = [o for o in self.objects if o["kind"] == kind]
        assert len(found) == 1, [o["kind"] for o in self.objects]
        return found[0]
