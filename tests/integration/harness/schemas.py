# SPDX-License-Identifier: Apache-2.0
"""The tables by which components decode their arguments, read out of the sources: what documentation has to agree with."""
import re
from dataclasses import dataclass, field

TYPES = {"BOOL": "bool", "INT": "number", "UINT": "number", "FLOAT": "number", "STRING": "string", "DURATION": "duration", "SECRET": "secret",
         "STRING_LIST": "strings", "STRING_MAP": "map", "SECRET_LIST_MAP": "map", "OPTIONAL_SECRET": "string", "CAPSULE": "handler",
         "CAPSULE_LIST": "receivers", "VALUE": "any"}
FIELD = re.compile(r"(RIVER_FIELD_\w+|TARGETS_FIELD|HTTP_CLIENT\w*_FIELDS|IGNORED_BLOCK)\(((?:[^()]|\([^()]*\))*)\)|\.name = \"(\w+)\"")
ARRAY = re.compile(r"struct river_field (\w+)\[\] = \{(.*?)\n\};", re.S)
SCHEMA = re.compile(r"struct river_schema (\w+) =\s*RIVER_SCHEMA\(([^()]*)\)", re.S)


@dataclass
class Schema:
    name: str
    file: str
    arguments: dict = field(default_factory=dict)  # name → (type, default)
    blocks: dict = field(default_factory=dict)  # name → name of a variable
    ignored: list = field(default_factory=list)
    takes_client: bool = False


class Schemas:
    # Blocks without effect, or refused, whose arguments are not listed; what a declared component is given, under no fixed name.
    UNLISTED = {"argument", "declared", "debug_info", "tracing", "sampler", "jaeger_remote", "livedebugging", "remotecfg",
                "debug_metrics", "htpasswd", "keepalive", "cors", "enforcement_policy", "cookies",
                "compression_params", "batch"}

    def __init__(self, folder):
        self.by_variable = {}  # (file, name of the variable)
        for path in sorted(folder.rglob("*.c")):
            self._read(path.name, re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S))

    def _read(self, file, text):
        defines = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.M))
        arrays = dict(ARRAY.findall(text))
        for variable, arguments in SCHEMA.findall(text):
            words = [word.strip() for word in arguments.split(",")]
            schema = Schema(words[1].strip('"'), file)
            for macro, inside, bare in FIELD.findall(arrays[words[2]]):
                self._add(schema, macro, inside, bare, defines)
            self.by_variable[file, variable] = schema

    @staticmethod
    def _add(schema, macro, inside, bare, defines):
        if bare:
            schema.ignored.append(bare)
        elif macro == "HTTP_CLIENT_FIELDS":
            schema.takes_client = True
        elif macro == "RIVER_FIELD_LABEL":
            pass  # no argument
        elif macro == "HTTP_CLIENT_PROXY_FIELDS":
            schema.arguments |= PROXY
        else:
            name = re.search(r'"([^"]*)"', inside)[1]
            kind = macro.removeprefix("RIVER_FIELD_")
            if kind in ("IGNORED", "IGNORED_BLOCK"):
                schema.ignored.append(name)
            elif kind.startswith("BLOCK"):
                schema.blocks[name] = re.search(r"&(\w+)", inside)[1]
            else:
                schema.arguments[name] = (TYPES.get(kind, "targets"), _default(inside, defines))

    def all(self):
        return list(self.by_variable.values())

    def find(self, heading):
        """By the names of blocks that lead to it: "http > auth > basic"."""
        first, *rest = heading.split(" > ")
        schema = next(s for s in self.all() if (_is_client(s) if first == "every HTTP client" else s.name == first))
        for name in rest:
            schema = self._variable(schema.file, (schema.blocks | CLIENT_BLOCKS)[name])
        return schema

    def _variable(self, file, name):
        """Static ones of several files may be called the same."""
        own = self.by_variable.get((file, name))
        return own or next(s for (_, variable), s in self.by_variable.items() if variable == name)

    def arguments(self, schema):
        """As a page lists them: arguments, and blocks in angle brackets. Those of a client only of the client."""
        listed = dict(schema.arguments)
        blocks = dict(schema.blocks)
        if _is_client(schema):
            listed |= CLIENT | PROXY
            blocks |= CLIENT_BLOCKS
        return listed | {f"<{name}>": ("", "") for name in blocks}


def _is_client(schema):
    """Another component may have a block of that name."""
    return (schema.name, schema.file) == ("client", "http_client_args.c")


def _default(inside, defines):
    if "RIVER_REQUIRED" in inside:
        return "*"
    match = re.search(r'\.def = (?:"([^"]*)"|(\w+))', inside)
    if not match:
        return ""
    return match[1] if match[1] is not None else defines[match[2]]


# The macros of http_client_args.h.
PROXY = {"proxy_url": ("string", ""), "no_proxy": ("string", ""), "proxy_from_environment": ("bool", "false"), "proxy_connect_header": ("map", "")}
CLIENT = {"bearer_token": ("secret", ""), "bearer_token_file": ("string", ""), "follow_redirects": ("bool", "true"),
          "enable_http2": ("bool", "true"), "http_headers": ("map", "")}
CLIENT_BLOCKS = {"basic_auth": "http_client_basic_auth_schema", "authorization": "http_client_authorization_schema",
                 "oauth2": "http_client_oauth2_schema", "tls_config": "http_client_tls_schema"}
