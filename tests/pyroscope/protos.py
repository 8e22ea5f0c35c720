# SPDX-License-Identifier: Apache-2.0
"""The repository's .proto files as Python modules, made by protoc at run time: nothing generated is kept."""

import importlib.util
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(proto):
    """The module of one .proto file, given by its path from the root of the repository."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(["protoc", f"--proto_path={ROOT}", f"--python_out={out}", proto], check=True)
        path = pathlib.Path(out) / (proto.removesuffix(".proto") + "_pb2.py")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


push = load("agent/push/push.proto")
pprof = load("pprof/profile.proto")
