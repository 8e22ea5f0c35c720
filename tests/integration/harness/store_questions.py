# SPDX-License-Identifier: Apache-2.0
"""What the built-in store and a real Pyroscope are asked, about the profiles of store_data.everything()."""
from typing import NamedTuple

from . import store_api
from .pyroscope import CPU
from .store_api import PROFILE
from .store_data import MEMORY, SPAN_IDS

ALLOCATED = "memory:alloc_space:bytes:space:bytes"
MINUTE = 60_000
SPAN = 50 * MINUTE  # of time that all profiles lie in


class Question(NamedTuple):
    name: str
    method: str
    request: dict
    at: tuple = (0, SPAN)  # milliseconds from the begin of the data

    def at_time(self, begin):
        return timed(self.request, begin, self.at) if self.at else self.request


def timed(request, begin, at):
    """With start and end, also those of the two requests of a comparison."""
    if "left" in request:
        return {side: timed(request[side], begin, request[side].get("at", at)) for side in ("left", "right")}
    return {"start": begin + at[0], "end": begin + at[1], **{k: v for k, v in request.items() if k != "at"}}


def flame(name, selector, *at, method="SelectMergeStacktraces", kind=CPU, **more):
    return Question(name, method, {"profileTypeID": kind, "labelSelector": selector, **more}, at or (0, SPAN))


def rate(name, selector, step, *at, kind=CPU, **more):
    return flame(name, selector, *at, method="SelectSeries", kind=kind, step=step, **more)


def side(selector, *at):
    return {"profileTypeID": CPU, "labelSelector": selector, **({"at": at} if at else {})}


LABELS = [
    Question("types", "ProfileTypes", {}), Question("types within", "ProfileTypes", {}, (0, 2 * MINUTE)),
    Question("types before", "ProfileTypes", {}, (-SPAN, -1)), Question("types now", "ProfileTypes", {"start": 0, "end": 0}),
    Question("names", "LabelNames", {}), Question("names of one", "LabelNames", {"matchers": ['{service_name="shop"}']}),
    Question("names of two", "LabelNames", {"matchers": ['{service_name="swarm"}', '{region="süd"}']}),
    Question("names of none", "LabelNames", {"matchers": ['{service_name="nobody"}']}),
    Question("names within", "LabelNames", {}, (0, 2 * MINUTE)),
    Question("names of a type", "LabelNames", {"matchers": [f'{{__profile_type__="{ALLOCATED}"}}']}),
    *(Question(f"values of {n or 'nothing'}", "LabelValues", {"name": n})
      for n in ("service_name", "host", "pod", "tier", "thread", "note", "absent", "__profile_type__", "__service_name__", "__delta__",
                "bytes")),
    Question("values of one", "LabelValues", {"name": "region", "matchers": ['{service_name="shop",host="alpha"}']}),
    Question("values of two", "LabelValues", {"name": "host", "matchers": ['{tier="batch"}', '{thread="io"}']}),
    Question("values within", "LabelValues", {"name": "service_name"}, (MINUTE, 3 * MINUTE)),
    Question("series", "Series", {"matchers": [], "labelNames": []}),
    Question("series of a type", "Series", {"matchers": [f'{{__profile_type__="{CPU}"}}'], "labelNames": ["service_name"]}),
    Question("series by two", "Series", {"matchers": ["{}"], "labelNames": ["tier", "host"]}),
    Question("series by absent", "Series", {"matchers": [], "labelNames": ["absent"]}),
    Question("series of two", "Series", {"matchers": ['{host="gamma"}', '{pod=~"pod-00[0-4]"}'], "labelNames": []}),
    Question("series within", "Series", {"matchers": [], "labelNames": ["service_name", "__type__"]}, (5 * MINUTE, 7 * MINUTE)),
    Question("series of none", "Series", {"matchers": ['{host="delta"}'], "labelNames": []}),
    Question("stats", "GetProfileStats", {}, ()),
]

SERVICES = ("shop", "walker", "größe", "threads", "swarm", "wide", "deep", "accepted")
# All but those that the real server changes.
PLAIN = '{service_name!~"other|nameless|stackless"}'
FLAMES = [
    *(flame(f"flame of {s}", f'{{service_name="{s}"}}') for s in SERVICES),
    *(flame(f"flame of {t}", "{}", kind=f"memory:{t}:{u}:space:bytes") for t, u in MEMORY),
    flame("flame of goroutines", '{service_name="shop"}', kind="goroutine:goroutine:count:goroutine:count"),
    flame("flame of all", PLAIN), flame("flame of other", '{service_name="other"}'),
    flame("flame of the nameless", '{service_name="nameless"}'),
    flame("flame of no type of ours", "{}", kind="wall:wall:nanoseconds:wall:nanoseconds"),
    flame("flame of none", '{service_name="nobody"}'), flame("flame of one thread", '{thread="gc"}'),
    flame("flame of one host", '{service_name="shop",host="beta"}', 2 * MINUTE, 6 * MINUTE),
    flame("flame up to a profile", '{service_name="shop"}', 0, 1_700),
    flame("flame from a profile", '{service_name="shop"}', 1_700, 61_016),
    flame("flame of an instant", '{service_name="shop"}', 61_017, 61_017),
    flame("flame between profiles", '{service_name="shop"}', 1_701, 61_016),
    flame("flame before", "{}", -SPAN, -1),
    *(flame(f"{n} nodes", '{service_name="wide"}', maxNodes=n) for n in (1, 2, 3, 5, 8, 20, 64, 100, 193, 201, 202, 1000)),
    flame("pruned recursion", '{service_name="walker"}', maxNodes=6),
    *(flame(f"tree of {s}", f'{{service_name="{s}"}}', format="PROFILE_FORMAT_TREE") for s in ("shop", "walker", "größe", "nobody")),
    flame("pruned tree", '{service_name="wide"}', format=2, maxNodes=12),
    flame("format by name", '{service_name="walker"}', format="PROFILE_FORMAT_FLAMEGRAPH"),
    *(flame(f"below {' '.join(names)}", '{service_name=~"shop|walker"}', stackTraceSelector={"callSite": [{"name": n} for n in names]})
      for names in (["main"], ["main", "serve"], ["main", "walk", "walk"], ["serve"], ["main", "nobody"], [])),
]



def spans(name, *ids, method="SelectMergeSpanProfile", **more):
    return flame(f"spans: {name}", '{service_name="spans"}', method=method, **({"spanSelector": list(ids)} if ids else {}), **more)


SPANS = [
    *(spans(f"the {n}", i) for n, i in zip(("first", "second", "third"), SPAN_IDS)), spans("two", *SPAN_IDS[:2]), spans("none"),
    spans("in capitals", SPAN_IDS[0].upper(), "1122334455667788"), spans("twice", SPAN_IDS[1], SPAN_IDS[1]),
    spans("cut to one node", *SPAN_IDS, maxNodes=1), spans("as a tree", *SPAN_IDS, format="PROFILE_FORMAT_TREE"),
    spans("the id of none", "0" * 16), flame("spans: of another service", '{service_name="shop"}', method="SelectMergeSpanProfile",
                                             spanSelector=SPAN_IDS),
    spans("all samples", method="SelectMergeStacktraces"), spans("pprof of all samples", method=PROFILE),
    spans("of stacktraces", SPAN_IDS[0], method="SelectMergeStacktraces"),
    spans("a trace", method="SelectMergeStacktraces", traceIdSelector=["0" * 31 + "1"]),
    *(spans(f"a profile of {m}", method=m, profileIdSelector=["7c9e6679-7425-40de-944b-e07fc1f90ae7"])
      for m in ("SelectMergeStacktraces", PROFILE)),
]
PROFILES = [
    *(flame(f"profile of {s}", f'{{service_name="{s}"}}', method=PROFILE) for s in (*SERVICES, "nobody")),
    *(flame(f"profile of {t}", "{}", method=PROFILE, kind=f"memory:{t}:{u}:space:bytes") for t, u in MEMORY),
    flame("profile of all", PLAIN, method=PROFILE), flame("profile within", '{host="alpha"}', MINUTE, 5 * MINUTE, method=PROFILE),
    flame("profile below", '{service_name="walker"}', method=PROFILE,
          stackTraceSelector={"callSite": [{"name": "main"}, {"name": "outer"}]}),
]
RATES = [
    *(rate(f"rate by {step}", '{service_name="shop"}', step) for step in (1, 15, 60, 61.017, 3600)),
    *(rate(f"rate by {' and '.join(by)}", PLAIN, 60, groupBy=by)
      for by in (["service_name"], ["service_name", "host"], ["host", "absent"], ["absent"], ["pod"], ["thread"], ["__profile_type__"])),
    *(rate(f"the first {n}", PLAIN, 60, groupBy=["pod"], limit=n) for n in (1, 3, 1000)),
    rate("rate of a part", '{service_name="shop"}', 60, 90_333, 400_111, groupBy=["host"]),
    rate("rate of less than a step", '{service_name="shop"}', 600, 61_000, 200_000),
    rate("rate from a profile on", '{service_name="shop",host="alpha"}', 15, 61_017, 122_034),
    rate("rate of nothing", '{service_name="nobody"}', 15), rate("rate before", "{}", 15, -SPAN, -1),
    rate("rate of the stackless", '{service_name="stackless"}', 60), rate("rate of memory", "{}", 300, kind=ALLOCATED, groupBy=["tier"]),
    rate("average of memory", "{}", 600, kind=ALLOCATED, aggregation=1),
    rate("average", '{service_name="shop"}', 300, groupBy=["host"], aggregation="TIME_SERIES_AGGREGATION_TYPE_AVERAGE"),
    rate("average of many", '{service_name="swarm"}', 60, groupBy=["zone"], aggregation=1),
    rate("rate below", '{service_name=~"shop|walker"}', 60, groupBy=["service_name"],
         stackTraceSelector={"callSite": [{"name": "main"}, {"name": "serve"}]}),
]
DIFFS = [
    Question("diff of hosts", "Diff", {"left": side('{host="alpha"}'), "right": side('{host="beta",service_name!="other"}')}),
    Question("diff of times", "Diff",
             {"left": side('{service_name="shop"}', 0, 4 * MINUTE), "right": side('{service_name="shop"}', 4 * MINUTE, SPAN)}),
    Question("diff with itself", "Diff", {"left": side('{service_name="walker"}'), "right": side('{service_name="walker"}')}),
    Question("diff with nothing", "Diff", {"left": side('{service_name="nobody"}'), "right": side('{service_name="walker"}')}),
    Question("diff of nothing", "Diff", {"left": side('{service_name="nobody"}'), "right": side('{service_name="nobody"}')}),
    Question("diff of strangers", "Diff", {"left": side('{service_name="größe"}'), "right": side('{service_name="threads"}')}),
    Question("diff pruned", "Diff",
             {"left": {**side('{service_name="wide"}'), "maxNodes": 10}, "right": {**side('{service_name="swarm"}'), "maxNodes": 10}}),
]
QUESTIONS = LABELS + FLAMES + SPANS + PROFILES + RATES + DIFFS

FORMS = {"LabelNames": lambda a: a.get("names", []), "LabelValues": lambda a: a.get("names", []), "ProfileTypes": lambda a: sorted(t["ID"] for t in a.get("profileTypes", [])),
         "GetProfileStats": lambda a: a, "Series": store_api.label_sets, "SelectSeries": store_api.series, PROFILE: store_api.profile,
         "SelectMergeStacktraces": store_api.flamegraph, "SelectMergeSpanProfile": store_api.flamegraph, "Diff": lambda a: store_api.flamegraph(a, 7)}

SELECTORS = [
    "{}", " {} ", "", "{", "}", "{}{}", "x", "{a}", "{a=}", "{=\"a\"}", '{a="b"', '{a="b"}}', '{a="b",}', "{,}", '{a="b",,}',
    '{a="b" c="d"}', '{host=="alpha"}',
    '{host=alpha}', '{"host"="alpha"}', '{"host"}', "{host='alpha'}", "{host=`alpha`}", "{host=`al\npha`}", '{host="al\npha"}',
    '{host=\n"alpha"\n}',
    '{ host = "alpha" , }', "# comment", '{host="alpha"} # comment', '{host="alpha",host="beta"}', '{host="alpha",host!="beta"}',
    '{host="\\x61lpha"}', '{host="\\u0061lpha"}', '{host="\\141lpha"}', '{host="\\q"}', '{host="\\x6"}', '{host="q\\"uo\\\\te"}',
    "{host=`q\"uo\\te`}",
    "{host='q\"uo\\\\te'}", '{region="süd"}', '{region="s\\u00fcd"}', '{région="a"}', '{service_name="größe"}', '{note="<b>&amp;</b>"}',
    '{host!="alpha"}', '{host=""}', '{host!=""}', '{absent=""}', '{absent!=""}', '{absent!="x"}', '{absent=~".*"}', '{absent=~".+"}',
    '{absent!~"x"}',
    '{host=~"alpha"}', '{host=~"alph"}', '{host=~"lpha"}', '{host=~"alpha|beta"}', '{host=~"al.*|b"}', '{host=~"(alpha|beta)"}',
    '{host=~"^alpha$"}',
    '{host=~"ALPHA"}', '{host=~"(?i)ALPHA"}', '{host=~""}', '{host!~""}', '{host=~".*"}', '{host!~".*"}', '{host!~".+"}',
    '{host!~"alpha|beta"}',
    '{tier=~"a.b*c"}', '{tier=~"a\\\\.b\\\\*c"}', "{tier=~`a\\.b\\*c`}", '{tier="a.b*c"}', '{tier=~"\\\\Qa.b*c\\\\E"}',
    '{pod=~"pod-0[0-2]\\\\d"}',
    '{pod=~"pod-(001|002|10.)"}', '{pod=~"[^p].*"}', '{pod=~"pod-\\\\p{Nd}+"}', '{region=~"s.d"}', '{region=~"s\\\\w+d"}',
    '{note=~"(?s).*"}', '{pod=~"(?U)pod-.+"}',
    '{host=~"("}', '{host=~"*"}', '{host=~"a**"}', '{host=~"[z-a]"}', '{host=~"(?=a)"}', '{host=~"(a)\\\\1"}', '{host=~"a{1001}"}',
    '{host=~"a{2,1}"}', '{host=~"\\\\"}',
    '{host=~"(?P<n>alpha)"}', '{host=~"(?<n>alpha)"}', '{host=~"\\\\z"}', '{host=~"alpha\\\\b"}', '{host=~"[[:alpha:]]+"}', '{host=~"a++"}',
    '{host=~"(?>a)"}',
    f"{CPU}{{}}", "process_cpu{}", 'process_cpu{host="alpha"}', "process_cpu", "memory{}", '{__name__="process_cpu"}',
    '{__name__=~"mem.*|process_cpu"}',
    f'{{__profile_type__="{CPU}",host="alpha"}}', f'{{__profile_type__="{ALLOCATED}"}}', '{__service_name__="shop"}', '{__type__="cpu"}',
    '{__delta__="false"}',
    '{service_name=~"shop|wide",tier!="web"}', "{host=1}", '{host="alpha"}[5m]', '{host="alpha"} offset 5m', 'sum({host="alpha"})',
    '{host:a="b"}', '{a.b="c"}', '{0a="b"}',
    '{"a b"=""}', '{"a.b"=""}', "{host=\"alpha\" or host=\"beta\"}", '{host="' + "a" * 5000 + '"}', '{host=~"' + "a|" * 500 + 'alpha"}',
]
