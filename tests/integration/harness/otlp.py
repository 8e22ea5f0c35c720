# SPDX-License-Identifier: Apache-2.0
"""Requests of OTLP profiles, made by Google's protobuf, and who sends them."""
import urllib.error
import urllib.request

from .store_data import protos

messages = protos.load("agent/encode/otlp.proto")
CPU = ("samples", "count")
PERIOD = ("cpu", "nanoseconds", 10_000_000)


class _Strings:
    def __init__(self, dictionary):
        self._table, self._known = dictionary.string_table, {}
        self("")

    def __call__(self, text):
        if text not in self._known:
            self._known[text] = len(self._known)
            self._table.append(text)
        return self._known[text]


def _set(value, of):
    if isinstance(of, int):
        value.int_value = of
    else:
        value.string_value = of


def _tables(dictionary, string):
    """Stacks 1: main;work and 2: main. Row 0 of each table is the zero value."""
    for table in ("mapping", "location", "function", "link", "attribute", "stack"):
        getattr(dictionary, f"{table}_table").add()
    dictionary.mapping_table.add(memory_start=0x1000, memory_limit=0x9000, filename_strindex=string("/bin/made"))
    for number, name in enumerate(("main", "work"), 1):
        dictionary.function_table.add(name_strindex=string(name), filename_strindex=string("a.c"))
        dictionary.location_table.add(mapping_index=1, address=0x1000 + 16 * number).lines.add(function_index=number, line=number)
    dictionary.stack_table.add(location_indices=[2, 1])
    dictionary.stack_table.add(location_indices=[1])


def request(time_ns, kind=CPU, period=PERIOD, resource=(), scope=(), attributes=()):
    """Bytes of one profile: 5 of main;work, 2 of main."""
    message = messages.ExportProfilesServiceRequest()
    string = _Strings(message.dictionary)
    _tables(message.dictionary, string)
    one = message.resource_profiles.add()
    for key, value in dict(resource).items():
        _set(one.resource.attributes.add(key=key).value, value)
    inner = one.scope_profiles.add()
    for key, value in dict(scope).items():
        _set(inner.scope.attributes.add(key=key).value, value)
    profile = inner.profiles.add(time_unix_nano=time_ns, duration_nano=10**9)
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = map(string, kind)
    if period:
        profile.period_type.type_strindex, profile.period_type.unit_strindex = map(string, period[:2])
        profile.period = period[2]
    for stack, value in ((1, 5), (2, 2)):
        profile.samples.add(stack_index=stack, values=[value])
    for key, value in dict(attributes).items():
        _set(message.dictionary.attribute_table.add(key_strindex=string(key)).value, value)
        for sample in profile.samples:
            sample.attribute_indices.append(len(message.dictionary.attribute_table) - 1)
    return message.SerializeToString()


def post(url, body, **headers):
    """(status, body) of the answer."""
    asked = urllib.request.Request(f"{url}/v1development/profiles", body, {"Content-Type": "application/x-protobuf", **headers})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()
