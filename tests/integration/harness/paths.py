# SPDX-License-Identifier: Apache-2.0
"""Where things are. The environment can name others: XAGENT the program, FIXTURES a folder for the fixture programs."""
import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
TESTS = TOP / "tests"
BUILD = Path(os.environ.get("BUILD", TOP / "build")).resolve()
XAGENT = Path(os.environ.get("XAGENT", BUILD / "xagent")).resolve()
FIXTURES = Path(os.environ.get("FIXTURES", BUILD / "fixtures")).resolve()
