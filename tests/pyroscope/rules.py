# SPDX-License-Identifier: Apache-2.0
"""What a Pyroscope server refuses, with its default limits, written down independently of the agent.

check_series() raises Refused for what the server answers with an error, and returns what it would store. Things that a
server accepts and that nobody should send all the same (they are lost, or crash some versions) are returned as warnings.
"""

import dataclasses
import gzip
import re
import time
import zlib

from google.protobuf.message import DecodeError

import protos

MAX_LABELS = 30
MAX_NAME_BYTES = 1024
MAX_VALUE_BYTES = 2048
MAX_PROFILE_BYTES = 4 << 20
MAX_SAMPLES = 16000
MAX_SAMPLE_LABELS = 100
MAX_DEPTH = 1000
MAX_STRING_BYTES = 65535
OLDEST_S = 3600
NEWEST_S = 600
BURST_BYTES = 2 << 20

METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
# Kept inside of the profile by the server; every other string label becomes a series label.
INNER_LABELS = {"profile_id", "span_id", "trace_id"}
SENDABLE_PRIVATE = {"__name__", "__delta__"}


class Refused(Exception):
    """An answer with a Connect error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def refuse(message):
    raise Refused("invalid_argument", message)


@dataclasses.dataclass
class Stored:
    """One accepted profile."""

    labels: dict
    sample_types: list
    period_type: str
    period: int
    time_nanos: int
    duration_nanos: int
    n_samples: int
    n_bytes: int
    totals: dict
    stacks: dict
    mappings: list
    warnings: list
    profile: bytes  # as it came

    def key(self):
        """Equal for two profiles of which a server shows only one."""
        return (tuple(sorted(self.labels.items())), tuple(self.sample_types), self.time_nanos // 1_000_000)


def check_labels(pairs):
    """The series' labels as a dict, and warnings."""
    warnings = []
    if not pairs:
        refuse("error at least one label pair is required per profile")
    names = [name for name, _ in pairs]
    labels = dict(pairs)
    for name, value in pairs:
        if len(name.encode()) > MAX_NAME_BYTES:
            refuse(f"profile series has label name too long: {name[:40]}")
        if len(value.encode()) > MAX_VALUE_BYTES:
            refuse(f"profile series has label value too long: {value[:40]}")
        if name != "__name__" and not LABEL_NAME.fullmatch(name):
            refuse(f"invalid labels with error: invalid label name '{name}'")
        if name.startswith("__") and name not in SENDABLE_PRIVATE:
            warnings.append(f"reserved label {name}")
    if len(set(names)) != len(names):
        refuse("profile series has duplicate label name")
    if len(names) > MAX_LABELS:
        refuse(f"profile series has {len(names)} label names; limit {MAX_LABELS}")
    if not METRIC_NAME.fullmatch(labels.get("__name__", "")):
        refuse("invalid labels with error: invalid metric name")
    if not labels.get("service_name"):
        labels["service_name"] = "unknown_service"
        warnings.append("no service_name")
    if names != sorted(names):
        warnings.append("labels are not sorted")
    return labels, warnings


def inflate(raw):
    """The pprof bytes; the server sniffs gzip."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        plain = inflater.decompress(raw, MAX_PROFILE_BYTES + 1)
    except zlib.error as error:
        refuse(f"failed to decompress: {error}")
    if len(plain) > MAX_PROFILE_BYTES:
        refuse(f"uncompressed profile payload size exceeds limit of {MAX_PROFILE_BYTES} bytes")
    if not inflater.eof:
        refuse("failed to decompress: unexpected EOF")
    return plain


def parse(plain):
    profile = protos.pprof.Profile()
    try:
        profile.ParseFromString(plain)
    except DecodeError as error:
        refuse(f"malformed profile (wire format or invalid utf8 string): {error}")
    return profile


def check_size(plain, profile):
    if len(plain) > MAX_PROFILE_BYTES:
        refuse(f"exceeds the size limit (max_profile_size_byte, actual: {len(plain)}, limit: {MAX_PROFILE_BYTES})")
    if len(profile.sample) > MAX_SAMPLES:
        refuse(f"exceeds the samples count limit (max_profile_stacktrace_samples, actual: {len(profile.sample)}, "
               f"limit: {MAX_SAMPLES})")
    for sample in profile.sample:
        if len(sample.label) > MAX_SAMPLE_LABELS:
            refuse(f"exceeds the sample labels limit ({MAX_SAMPLE_LABELS})")


def check_window(profile, now_s):
    at_s = profile.time_nanos / 1e9
    if profile.time_nanos != 0 and not now_s - OLDEST_S <= at_s <= now_s + NEWEST_S:
        refuse(f"is outside of ingestion window (profile timestamp: {at_s}, now: {now_s})")


def string_indices(profile):
    yield from (i for vt in profile.sample_type for i in (vt.type, vt.unit))
    yield from (profile.period_type.type, profile.period_type.unit, profile.drop_frames, profile.keep_frames,
                profile.default_sample_type)
    yield from profile.comment
    yield from (i for s in profile.sample for lb in s.label for i in (lb.key, lb.str, lb.num_unit))
    yield from (i for m in profile.mapping for i in (m.filename, m.build_id))
    yield from (i for f in profile.function for i in (f.name, f.system_name, f.filename))


def check_ids(what, messages):
    ids = [m.id for m in messages]
    if 0 in ids:
        refuse(f"malformed profile: {what} with id 0")
    if len(set(ids)) != len(ids):
        refuse(f"malformed profile: two {what}s with the same id")
    return set(ids)


def check_structure(profile):
    if not profile.string_table or profile.string_table[0] != "":
        refuse("malformed profile: string 0 is not empty")
    if not profile.sample_type:
        refuse("malformed profile: no sample type")
    if any(not 0 <= i < len(profile.string_table) for i in string_indices(profile)):
        refuse("malformed profile: string index out of range")
    if any("-" in profile.string_table[vt.type] for vt in profile.sample_type):
        refuse("malformed profile: '-' in a sample type")
    check_ids("mapping", profile.mapping)
    functions = check_ids("function", profile.function)
    locations = check_ids("location", profile.location)
    for location in profile.location:
        if any(line.function_id not in functions for line in location.line):
            refuse("malformed profile: function id out of range")
    for sample in profile.sample:
        if len(sample.value) != len(profile.sample_type):
            refuse("malformed profile: number of values differs from number of sample types")
        if any(i not in locations for i in sample.location_id):
            refuse("malformed profile: location id out of range")


def check_sample_labels(profile, labels):
    """String labels of samples become series labels."""
    names = {profile.string_table[lb.key] for s in profile.sample for lb in s.label if lb.str}
    extra = names - INNER_LABELS - set(labels)
    if len(labels) + len(extra) > MAX_LABELS:
        refuse(f"profile series has {len(labels) + len(extra)} label names; limit {MAX_LABELS}")
    return [f"sample label {name} becomes a series label" for name in sorted(extra)]


def frame_names(profile):
    """Location id → names of its frames, outermost first."""
    strings = profile.string_table
    functions = {f.id: strings[f.name] for f in profile.function}
    files = {m.id: strings[m.filename].rsplit("/", 1)[-1] for m in profile.mapping}
    names = {}
    for location in profile.location:
        lines = [functions[line.function_id][-MAX_STRING_BYTES:] for line in reversed(location.line)]
        names[location.id] = lines or [f"{files.get(location.mapping_id, '?')}!{location.address:#x}"]
    return names


def fold(profile):
    """Root-first stacks with their summed values; what the server would not keep is left out and warned of."""
    stacks, warnings, names = {}, [], frame_names(profile)
    for sample in profile.sample:
        if any(v < 0 for v in sample.value) or not any(sample.value):
            warnings.append("a sample without value, or below zero")
            continue
        if len(sample.location_id) > MAX_DEPTH:
            warnings.append("a stack deeper than the server keeps")
        frames = [n for i in reversed(sample.location_id[-MAX_DEPTH:]) for n in names[i]]
        key = ";".join(frames)
        stacks[key] = [a + b for a, b in zip(stacks.get(key, [0] * len(sample.value)), sample.value)]
    return stacks, sorted(set(warnings))


def warn_about(profile):
    if profile.time_nanos == 0:
        yield "no time_nanos"
    if not profile.HasField("period_type") or profile.period <= 0:
        yield "no period: some servers fail on it"
    if any(len(s.encode()) > MAX_STRING_BYTES for s in profile.string_table):
        yield "a string longer than the server keeps"


def type_name(profile, value_type):
    return f"{profile.string_table[value_type.type]}:{profile.string_table[value_type.unit]}"


def check_sample(labels, raw, now_s):
    plain = inflate(raw)
    n_charged = len(plain) + sum(len(k.encode()) + len(v.encode()) for k, v in labels.items())
    if n_charged > BURST_BYTES and len(plain) <= MAX_PROFILE_BYTES:
        # The limiter is asked for the whole at once, so waiting never helps.
        raise Refused("resource_exhausted", f"push rate limit (4.0 MiB) exceeded while adding {n_charged} bytes")
    profile = parse(plain)
    check_size(plain, profile)
    check_window(profile, now_s)
    check_structure(profile)
    warnings = check_sample_labels(profile, labels) + list(warn_about(profile))
    stacks, more = fold(profile)
    types = [type_name(profile, vt) for vt in profile.sample_type]
    return Stored(
        labels=labels, sample_types=types, period_type=type_name(profile, profile.period_type), period=profile.period,
        time_nanos=profile.time_nanos or int(now_s * 1e9), duration_nanos=profile.duration_nanos,
        n_samples=len(profile.sample), n_bytes=len(plain), stacks=stacks,
        totals={t: sum(v[i] for v in stacks.values()) for i, t in enumerate(types)},
        mappings=[{"filename": profile.string_table[m.filename], "build_id": profile.string_table[m.build_id]}
                  for m in profile.mapping],
        warnings=warnings + more, profile=raw)


def check_series(series, now_s=None):
    """Every sample of one RawProfileSeries as a Stored."""
    now_s = time.time() if now_s is None else now_s
    labels, warnings = check_labels([(pair.name, pair.value) for pair in series.labels])
    stored = [check_sample(labels, sample.raw_profile, now_s) for sample in series.samples]
    for profile in stored:
        profile.warnings = warnings + profile.warnings
    return stored


def decode_body(body, content_encoding):
    """The request body without its compression."""
    if content_encoding in (None, "", "identity"):
        return body
    if content_encoding != "gzip":
        raise Refused("unimplemented", f"unknown compression {content_encoding!r}")
    try:
        return gzip.decompress(body)
    except (OSError, EOFError, zlib.error) as error:
        refuse(f"cannot decompress: {error}")
