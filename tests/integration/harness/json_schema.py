# SPDX-License-Identifier: Apache-2.0
"""JSON Schema (draft 7), as far as the Helm chart's schema goes; a keyword that is not known here is an error."""
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
ANNOTATIONS = {"$schema", "title", "description"}


def _is(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _members(schema, value, at):
    named = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for name, member in value.items():
        yield from problems(schema.get("propertyNames", True), name, f"{at}.{name} (its name)")
        yield from problems(named.get(name, rest), member, f"{at}.{name}")


def _unlike(schema, value, at):
    unlike = isinstance(value, str) and not re.search(schema["pattern"], value)
    return [f"{at}: {value!r} is not like {schema['pattern']}"] if unlike else []


def _items(schema, value, at):
    items = value if isinstance(value, list) else []
    return [p for i, item in enumerate(items) for p in problems(schema["items"], item, f"{at}[{i}]")]


# keyword → what is wrong with a value, given what the keyword says
CHECKS = {
    "type": lambda s, v, at: [] if _is(v, s["type"]) else [f"{at}: not of type {s['type']}"],
    "enum": lambda s, v, at: [] if v in s["enum"] else [f"{at}: {v!r} is none of {s['enum']}"],
    "pattern": _unlike,
    "minLength": lambda s, v, at: [f"{at}: too short"] if isinstance(v, str) and len(v) < s["minLength"] else [],
    "maxLength": lambda s, v, at: [f"{at}: too long"] if isinstance(v, str) and len(v) > s["maxLength"] else [],
    "minimum": lambda s, v, at: [f"{at}: too small"] if _is(v, "integer") and v < s["minimum"] else [],
    "maximum": lambda s, v, at: [f"{at}: too large"] if _is(v, "integer") and v > s["maximum"] else [],
    "required": lambda s, v, at: [f"{at}: lacks {n}" for n in s["required"] if isinstance(v, dict) and n not in v],
    "not": lambda s, v, at: [] if problems(s["not"], v, at) else [f"{at}: {v!r} is what it must not be"],
    "items": _items,
    "properties": lambda s, v, at: list(_members(s, v, at)) if isinstance(v, dict) else [],
}
MEMBERS = {"properties", "additionalProperties", "propertyNames"}


def problems(schema, value, at="values"):
    """What is wrong with a value, one sentence each."""
    if isinstance(schema, bool):
        return [] if schema else [f"{at}: not known"]
    unknown = set(schema) - set(CHECKS) - MEMBERS - ANNOTATIONS
    assert not unknown, f"this reader does not know {unknown}"
    found = [p for keyword, check in CHECKS.items() if keyword in schema and keyword != "properties" for p in check(schema, value, at)]
    return found + (CHECKS["properties"](schema, value, at) if MEMBERS & set(schema) else [])
