# SPDX-License-Identifier: Apache-2.0
"""Growth of resident memory: a program that touches so many fresh pages grows by so many bytes, by stack."""
import os
import re

import pytest

from harness import paths, pprof

pytestmark = pytest.mark.bpf

PAGES = 20000
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# What the kernel's sum may lack on each CPU, before and after.
SLACK = 2 * max(32, 2 * os.cpu_count()) * os.cpu_count()


@pytest.mark.beside
def test_by_function(processes, programs, tmp_path):
    run = processes.start(paths.XAGENT, "profile", "-e", "rss", "-F", "10000", "-o", tmp_path / "p.pb.gz", "--", programs["faulter"], PAGES, "2")
    assert run.wait(60) == 0, run.err
    assert "lost" not in run.err, run.err
    own = {name: int(n) for name, n in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    assert found.sample_types == [("growth", "bytes")] and found.period_type == ("rss", "bytes")
    for function, pages in (("touches_pages", 2 * PAGES), ("reads_zeros", PAGES)):
        samples = [s for s in found.samples if function in s.frames]
        grown = sum(s.values[0] for s in samples) / PAGE_BYTES
        # Both rounds begin and end with the kernel's sum up to a batch off.
        assert abs(grown - pages) <= 2 * SLACK, (function, grown, own)
        assert all("_start" in s.frames for s in samples), samples
