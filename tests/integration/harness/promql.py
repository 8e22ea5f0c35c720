# SPDX-License-Identifier: Apache-2.0
"""What a PromQL expression reads: metrics with their matchers, and the labels that it groups by. Knows tokens and brackets, no semantics."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<space>\s+)
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
    | (?P<number>\d+(?:ms|[smhdwy])|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
    | (?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
    | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],])""", re.VERBOSE)
# Go's escapes are those that PromQL knows.
BAD_ESCAPE = re.compile(r"\\[^\\\"'abfnrtvx0-7uU]")
LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = {"and", "or", "unless", "bool", "offset"}
AGGREGATIONS = {"sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile", "group"}
COUNTING = {"rate", "irate", "increase"}
FUNCTIONS = AGGREGATIONS | COUNTING | {"histogram_quantile", "vector", "time", "clamp_min", "clamp_max", "changes", "max_over_time"}


class Malformed(Exception):
    """No PromQL, or some that this reader does not know."""


@dataclass
class Use:
    """A metric in an expression. `function` is the one whose argument it is, directly."""
    metric: str
    matchers: list = field(default_factory=list)  # (label, operator, value)
    ranged: bool = False
    function: str = ""


def tokens(text):
    """[(kind, text)]; variables of Grafana for durations are one minute."""
    text = re.sub(r"\$__(?:rate_interval|interval|range)\b", "1m", text)
    result, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Malformed(f"at {text[at:at + 20]!r}")
        if match.lastgroup != "space":
            result.append((match.lastgroup, match[0]))
        at = match.end()
    return result


class Reader:
    """Takes tokens one by one."""

    def __init__(self, text):
        self._tokens, self._at = tokens(text), 0

    def _ended(self):
        return self._at == len(self._tokens)

    def _peek(self):
        return "" if self._ended() else self._tokens[self._at][1]

    def _take(self, *wanted):
        if self._ended():
            raise Malformed(f"ends before {' or '.join(wanted)}")
        kind, text = self._tokens[self._at]
        if wanted and text not in wanted and kind not in wanted:
            raise Malformed(f"{text!r} instead of {' or '.join(wanted)}")
        self._at += 1
        return kind, text

    def _list(self, begin, one, end):
        """What `one` reads, between brackets and with commas."""
        self._take(begin)
        result = []
        while self._peek() != end:
            result.append(one())
            if self._peek() != end:
                self._take(",")
        self._take(end)
        return result

    def _matcher(self):
        label = self._take("name")[1]
        operator = self._take("=", "!=", "=~", "!~")[1]
        text = self._take("string")[1]
        if text[0] != "`" and BAD_ESCAPE.search(text.replace(r"\\", "")):
            raise Malformed(f"unknown escape sequence in {text}")
        return label, operator, text[1:-1]

    def _matchers(self):
        return self._list("{", self._matcher, "}")


class Selector(Reader):
    """The matchers of a label selector alone, as Pyroscope takes it: {a="b"}."""

    def __init__(self, text):
        super().__init__(text)
        self.matchers = self._matchers()
        if not self._ended():
            raise Malformed("something after the selector")


class Expression(Reader):
    """`uses` and `grouping` of one expression."""

    def __init__(self, text):
        super().__init__(text)
        self.uses, self.grouping = [], []
        self._open = []  # the function of each bracket that is open
        function = ""
        while not self._ended():
            function = self._step(function)
        if self._open:
            raise Malformed("a bracket is not closed")
        if not self.uses:
            raise Malformed("no metric")

    def _step(self, function):
        """One token at the top level; the function that waits for its bracket."""
        kind, text = self._take()
        if kind == "name":
            return self._name(text, function)
        if text == "(":
            self._open.append(function)
        elif text == ")":
            if not self._open:
                raise Malformed("a bracket too many")
            self._open.pop()
        elif text in "{}[]" or kind == "string":
            raise Malformed(f"{text!r} without a metric")
        return ""

    def _name(self, text, function):
        if text in LISTS:
            if self._peek() == "(":
                self.grouping += self._list("(", lambda: self._take("name")[1], ")")
            return function
        if text in WORDS:
            return ""
        if self._peek() == "(" or self._peek() in LISTS and text in AGGREGATIONS:
            if text not in FUNCTIONS:
                raise Malformed(f"unknown function {text}")
            return text
        self._metric(text)
        return ""

    def _metric(self, name):
        use = Use(name, function=self._open[-1] if self._open else "")
        if self._peek() == "{":
            use.matchers = self._matchers()
        if self._peek() == "[":
            self._take("[")
            self._take("number")
            self._take("]")
            use.ranged = True
        self.uses.append(use)
