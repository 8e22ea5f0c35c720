# SPDX-License-Identifier: Apache-2.0
"""`xagent profile` of several events at once: each has a profile of its own, in its unit, whatever the format."""
import json
import os
import subprocess

import pytest

from harness import folded, paths, pprof, privileges
from test_off_cpu import FULL

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

EVENTS = "cpu,off_cpu,tracepoint:syscalls:sys_enter_clock_nanosleep"
# It sleeps and counts from then on; what it computes is 0.3 s.
SOURCE = """
#include <time.h>
#include <unistd.h>
static volatile unsigned int sink;
__attribute__((noinline)) void computes(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC * 3 / 10; clock() < end;)
		for (int i = 0; i < 1000; i++)
			sink += i;
}
__attribute__((noinline)) void sleeps(void)
{
	for (int i = 0; i < 10; i++)
		usleep(20000);
}
int main(void)
{
	computes();
	sleeps();
	return (int)(sink & 0);
}
"""
# The kernel refuses to load programs whose names begin with REFUSED, and to attach those that begin with UNATTACHED, as AArch64's before 6.4 does where it is to a function.
REFUSAL = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	const char *refused = getenv("REFUSED"), *unattached = getenv("UNATTACHED");
	const union bpf_attr *attr = (const union bpf_attr *)a[1];
	if (number == SYS_bpf && unattached && (a[0] == BPF_LINK_CREATE || a[0] == BPF_RAW_TRACEPOINT_OPEN)) {
		struct bpf_prog_info info;
		union bpf_attr of;
		memset(&info, 0, sizeof(info));
		memset(&of, 0, sizeof(of));
		of.info.bpf_fd = a[0] == BPF_LINK_CREATE ? attr->link_create.prog_fd : attr->raw_tracepoint.prog_fd;
		of.info.info = (unsigned long)&info;
		of.info.info_len = sizeof(info);
		if (syscall(SYS_bpf, (long)BPF_OBJ_GET_INFO_BY_FD, &of, (long)sizeof(of)) == 0 && strncmp(info.name, unattached, strlen(unattached)) == 0) {
			errno = 524; /* ENOTSUPP */
			return -1;
		}
	}
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD && refused && strncmp(attr->prog_name, refused, strlen(refused)) == 0) {
		errno = EACCES;
		return -1;
	}
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


def compiled(folder, name, source, *flags):
    compiler = os.environ.get("CC", "gcc")
    reason = privileges.why_no_tool(compiler)
    if reason:
        pytest.skip(reason)
    (folder / f"{name}.c").write_text(source)
    subprocess.run([compiler, "-O1", "-o", folder / name, folder / f"{name}.c", *flags], check=True)
    return folder / name


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("events"), "program", SOURCE)


def run(processes, folder, *arguments, code=0, **options):
    ended = processes.run(paths.XAGENT, "profile", "-F", "1000", *arguments, cwd=folder, **options)
    assert ended.popen.returncode == code, ended.err
    return ended


def test_a_file_for_each(processes, program, tmp_path):
    ended = run(processes, tmp_path, "-e", EVENTS, "-o", "app.pb.gz", "--", program)
    names = {"cpu", "off_cpu", "syscalls.sys_enter_clock_nanosleep"}
    assert {p.name for p in tmp_path.glob("app*")} == {f"app.{name}.pb.gz" for name in names}
    cpu, off_cpu, calls = (pprof.parse((tmp_path / f"app.{name}.pb.gz").read_bytes()) for name in sorted(names))
    assert cpu.sample_types == [("cpu", "nanoseconds")] and cpu.period == 1000000
    assert off_cpu.sample_types == [("offcpu", "nanoseconds"), ("waits", "count")]
    assert calls.sample_types == [("events", "count")]
    computes = sum(s.values[0] for s in cpu.samples if "computes" in s.frames)
    # It has that much by its own clock, less what the kernel was busy with at the time.
    assert 0.15e9 < computes < 0.45e9 and not any("computes" in s.frames and s.frames[-1] == "[sleep]" for s in off_cpu.samples)
    sleeps = [s for s in off_cpu.samples if "sleeps" in s.frames and s.frames[-1] == "[sleep]"]
    assert sum(s.values[0] for s in sleeps) >= 10 * 20e6 and sum(s.values[1] for s in sleeps) == 10
    assert sum(s.values[0] for s in calls.samples if "sleeps" in s.frames) == 10
    for name in names:
        assert f"go tool pprof -http=: app.{name}.pb.gz" in ended.err


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_one_file_for_all(processes, program, tmp_path):
    run(processes, tmp_path, "-e", "cpu,off_cpu,wall", "-o", "app.speedscope.json", "--", program)
    [path] = tmp_path.glob("app*")
    profiles = json.loads(path.read_text())
    frames = [f["name"] for f in profiles["shared"]["frames"]]
    sums = []
    for p in profiles["profiles"]:
        assert p["unit"] == "nanoseconds" and p["endValue"] == sum(p["weights"])
        sums.append({name: sum(w for s, w in zip(p["samples"], p["weights"]) if name in (frames[i] for i in s)) for name in ("computes", "sleeps")})
    assert [p["name"].split(" of ")[0] for p in profiles["profiles"]] == ["CPU time", "Off-CPU time", "Wall-clock time"]
    cpu, off_cpu, wall = sums
    assert cpu["computes"] > 0 and off_cpu["sleeps"] >= 0.2e9 and wall["sleeps"] >= 0.2e9 and wall["computes"] > 0


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_otlp_has_one_dictionary(processes, program, tmp_path):
    otlp = pytest.importorskip("harness.otlp", reason="python3-protobuf is not installed")
    run(processes, tmp_path, "-e", "off_cpu,cpu", "-o", "app.otlp", "--", program)
    [path] = tmp_path.glob("app*")
    request = otlp.messages.ExportProfilesServiceRequest()
    request.ParseFromString(path.read_bytes())
    strings, d = request.dictionary.string_table, request.dictionary
    assert len(strings) == len(set(strings))
    functions = [(f.name_strindex, f.filename_strindex) for f in d.function_table]
    assert len(functions) == len(set(functions))
    found = {}
    for p in request.resource_profiles[0].scope_profiles[0].profiles:
        names = {strings[d.function_table[line.function_index].name_strindex] for s in p.samples
                 for i in d.stack_table[s.stack_index].location_indices for line in d.location_table[i].lines}
        found[strings[p.sample_type.type_strindex], strings[p.sample_type.unit_strindex]] = names
    assert set(found) == {("samples", "count"), ("off_cpu", "nanoseconds"), ("waits", "count")}
    assert "computes" in found["samples", "count"] and "sleeps" in found["off_cpu", "nanoseconds"]


def test_tables_one_after_the_other(processes, program, tmp_path):
    """Also through a pipe; an event without samples says so. Each is profiled once."""
    ended = run(processes, tmp_path, "-e", "off_cpu,cpu,off_cpu,tracepoint:syscalls:sys_enter_reboot", "--", program)
    headings = [line for line in ended.out.splitlines() if line.endswith((" samples", " sample"))]
    assert [h.split(":")[0] for h in headings] == ["Off-CPU time", "CPU time", "hits of syscalls"]
    assert headings[-1] == "hits of syscalls:sys_enter_reboot: 0 samples"
    off_cpu, cpu, _ = ended.out.split("\n\n")
    assert "SECONDS" in off_cpu and "sleeps" in off_cpu and "SAMPLES" in cpu and "computes" in cpu


@pytest.mark.parametrize("arguments, says", [
    (("-e", "cpu,wall", "-f", "pprof"), "pprof on standard output is of one event: with -o FILE each event has a file of its own"),
    (("-e", "cpu,wall", "-f", "folded", "-o", "/dev/null"), "/dev/null is no regular file"),
    (("-e", "cpu,nothing"), '-e wants cpu, off_cpu, wall, locks'),
    (("-e", "cpu,tracepoint:syscalls:sys_enter_nothing", "-d", "1"), "this kernel has no tracepoint syscalls:sys_enter_nothing"),
])
def test_what_cannot_be(processes, tmp_path, arguments, says):
    ended = run(processes, tmp_path, *arguments, code=1)
    assert says in ended.err and "sample" not in ended.out


@pytest.mark.skipif(not FULL, reason="in the full matrix")
@pytest.mark.parametrize("how", ["REFUSED", "UNATTACHED"])
@pytest.mark.parametrize("events, refused, missing", [
    ("cpu,locks,off_cpu", "lock_", "locks"),
    ("locks,off_cpu", "lock_", "locks"),
    ("cpu,off_cpu,wall", "off_cpu_in", "off_cpu"),
])
def test_one_that_is_refused(processes, program, tmp_path, events, refused, missing, how):
    """The others go on, and one line says which it was; what is made of it cannot be had either."""
    library = compiled(tmp_path, "refusal.so", REFUSAL, "-shared", "-fPIC", "-ldl")
    env = os.environ | {"LD_PRELOAD": str(library), how: refused}
    ended = run(processes, tmp_path, "-e", events, "-o", "app.folded", "--", program, env=env)
    gone = {missing} | ({"wall"} if missing == "off_cpu" else set())
    lines = [line for line in ended.err.splitlines() if "an event is not profiled" in line]
    assert {name for name in gone if any(f"event={name} " in line for line in lines)} == gone and len(lines) == len(gone), ended.err
    left = set(events.split(",")) - gone
    assert {p.name for p in tmp_path.glob("app*")} == {f"app.{name}.folded" for name in left}
    for name in left:
        assert folded.parse((tmp_path / f"app.{name}.folded").read_text()).total > 0, name


@pytest.mark.parametrize("how", ["REFUSED", "UNATTACHED"])
def test_wall_is_not_cpu_time_alone(processes, program, tmp_path, how):
    """Without the waits there is no sum of both, and half of it is not called so."""
    library = compiled(tmp_path, "refusal.so", REFUSAL, "-shared", "-fPIC", "-ldl")
    env = os.environ | {"LD_PRELOAD": str(library), how: "off_cpu_in"}
    ended = run(processes, tmp_path, "-e", "wall", "-o", "app.folded", "--", program, env=env, code=1)
    assert not list(tmp_path.glob("app*")) and "wall-clock time needs off-CPU time, which is not profiled" in ended.err, ended.err
    ended = run(processes, tmp_path, "-e", "wall,cpu", "-o", "app.folded", "--", program, env=env)
    assert {p.name for p in tmp_path.glob("app*")} == {"app.cpu.folded"} and "event=wall " in ended.err, ended.err


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_all_that_are_refused(processes, program, tmp_path):
    library = compiled(tmp_path, "refusal.so", REFUSAL, "-shared", "-fPIC", "-ldl")
    env = os.environ | {"LD_PRELOAD": str(library), "REFUSED": "lock_"}
    ended = run(processes, tmp_path, "-e", "locks", "-o", "app.folded", "--", program, env=env, code=1)
    assert not list(tmp_path.glob("app*")) and "xagent: " in ended.err
