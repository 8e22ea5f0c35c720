# SPDX-License-Identifier: Apache-2.0
"""Reads the Prometheus text format 0.0.4, and refuses what a Prometheus server would refuse."""
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"^({NAME})(?:\{{(.*)\}})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')
TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}


class Metrics:
    """One scrape."""

    def __init__(self):
        self.types = {}
        self.samples = {}  # (name, sorted labels) → value

    def names(self):
        return {name for name, _ in self.samples}

    def series(self, name):
        """[(labels as a dict, value)] of one name."""
        return [(dict(labels), value) for (n, labels), value in self.samples.items() if n == name]

    def value(self, name, **labels):
        """Sum over all series of the name that carry these labels; there must be one."""
        found = [v for have, v in self.series(name) if labels.items() <= have.items()]
        if not found:
            raise AssertionError(f"no metric {name}{labels or ''} among {sorted(self.names())}")
        return sum(found)

    def get(self, name, **labels):
        """As value(), 0 where there is none: counters of labels that have not occurred yet."""
        return sum(v for have, v in self.series(name) if labels.items() <= have.items())

    def kernel(self, name):
        return int(self.value(f"xagent_kernel_{name}_total"))

    def agent(self, name):
        return int(self.value(f"xagent_{name}_total"))

    def dropped_samples(self):
        """All the named causes for which a sample is in no profile."""
        return int(sum(v for (n, _), v in self.samples.items()
                       if n.startswith("xagent_samples_dropped_") and n.endswith("_total")))


def _labels(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or match[1] in labels:
            raise AssertionError(f"bad labels: {text!r}")
        labels[match[1]] = match[2]
        at = match.end()
    return tuple(sorted(labels.items()))


def _family(name, types):
    """The family that a sample belongs to."""
    if name in types:
        return name
    for suffix in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(suffix)
        if base != name and types.get(base) in ("histogram", "summary"):
            return base
    raise AssertionError(f"{name} has no TYPE before it")


def _comment(metrics, line):
    words = line.split(" ", 3)
    if len(words) >= 4 and words[1] == "TYPE":
        if words[3] not in TYPES or words[2] in metrics.types:
            raise AssertionError(f"bad or second TYPE: {line!r}")
        metrics.types[words[2]] = words[3]


def _sample(metrics, line):
    match = SAMPLE.match(line)
    if not match:
        raise AssertionError(f"not a sample: {line!r}")
    _family(match[1], metrics.types)
    key = (match[1], _labels(match[2] or ""))
    if key in metrics.samples:
        raise AssertionError(f"series comes twice: {line!r}")
    metrics.samples[key] = float(match[3])


def only(text, prefix):
    """The lines of names that begin like this, with their types."""
    begins = (prefix, f"# TYPE {prefix}", f"# HELP {prefix}")
    return "".join(line for line in text.splitlines(keepends=True) if line.startswith(begins))


def parse(text):
    metrics = Metrics()
    assert text.endswith("\n"), "the last line must end"
    for line in text.splitlines():
        if line.startswith("#"):
            _comment(metrics, line)
        elif line:
            _sample(metrics, line)
    return metrics
