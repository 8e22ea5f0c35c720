# SPDX-License-Identifier: Apache-2.0
"""`xagent run`: configurations, labels, HTTP side, signals, and what it says when something is wrong."""
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness import paths, privileges
from harness.agent import Raw, config
from harness.processes import cpu_seconds, free_port, wait_until
from harness.standin import services_with, stacks_of

pytestmark = pytest.mark.bpf

# The example with which the project began: it must run as it is, indentation and stray comma included.
SEED = """
logging {
	level = "debug"
}

pyroscope.ebpf "instance" {
	forward_to = [pyroscope.write.endpoint.receiver]
	default_target = {
		"__name__"="host_cpu",
		"service_name"="host_cpu", 
	}
        targets = [
		{"__container_id__"="0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 
		 "service_name"="grafana", 
		 "__name__"="grafana_cpu"},
	]
	targets_only = false
	collect_kernel_profile = true
	collect_user_profile = true
	collect_interval = "5s"
	sample_rate = 100
}

pyroscope.write "endpoint" {
	endpoint {
        url = "http://127.0.0.1:4040"
    }
}
"""

DISCOVERY = 'discovery.process "all" {\n\trefresh_interval = "60s"\n}\n'
# Relabelling belongs to later components; the meta labels are on the targets, and service_name comes from the process.
DISCOVERED = Raw("discovery.process.all.targets")


def pid_target(pid, **labels):
    return {"__process_pid__": str(pid), **labels}


def chain_config(standin, chain, **arguments):
    """Nothing but one known process."""
    arguments.setdefault("targets", [pid_target(chain.pid, service_name="known")])
    return config(standin.url, targets_only=True, **arguments)


@pytest.fixture
def chain(processes, programs):
    process = processes.start(programs["chain"], 50)
    process.wait_for_output("main")
    return process


# Configurations

def test_seed_configuration(start_agent, standin, chain):
    agent = start_agent(SEED.replace("http://127.0.0.1:4040", standin.url)).wait_ready()
    push = standin.wait_pushes(service_name="host_cpu")[0]
    assert push.labels["__name__"] == "host_cpu"
    assert push.profile.period == 10**9 // 100
    assert ("cpu", "nanoseconds") == push.profile.period_type == push.profile.sample_types[0]
    assert any("spin" in frames for frames in stacks_of([push]))
    assert agent.stop() == 0
    assert agent.log_lines(level="debug"), agent.log


def test_discovery_of_processes(start_agent, standin, chain):
    text = config(standin.url, before=DISCOVERY, targets=DISCOVERED, targets_only=True)
    agent = start_agent(text).wait_ready()
    wait_until(lambda: any("spin" in f for f in stacks_of(standin.pushes())), 15, "the chain is profiled")
    assert all(p.labels.get("service_name") for p in standin.pushes())
    assert agent.metrics().value("pyroscope_ebpf_active_targets") > 0
    assert agent.stop() == 0


def test_process_started_later_has_its_labels_from_its_first_tick(start_agent, standin, processes, programs):
    """discovery.process learns of it by its exec, not by the next refresh a minute later."""
    text = config(standin.url, before=DISCOVERY, targets=DISCOVERED, targets_only=True, interval="1s", rate=497)
    agent = start_agent(text).wait_ready()
    run = processes.run(programs["chain"], 2)
    assert run.popen.returncode == 0
    assert agent.stop() == 0
    spins = services_with(standin.pushes(), "spin")
    # A refresh a minute later would leave nothing, labels that come late would leave two services.
    assert set(spins) == {"chain"}
    assert spins["chain"] >= 0.9 * 497 * cpu_seconds(run)


def test_without_targets_every_process_has_a_service(start_agent, standin, processes, programs):
    agent = start_agent(config(standin.url, interval="1s")).wait_ready()
    threads = processes.start(programs["chain"], 20, 2)
    threads.wait_for_output("thread_b")
    wait_until(lambda: standin.samples(service_name="chain") >= 100, 15, "the chain's own series")
    names = {p.labels["service_name"] for p in standin.pushes()}
    assert all(p.labels["__name__"] == "process_cpu" for p in standin.pushes())
    assert "" not in names and not any(n.startswith("thread_") for n in names), names
    assert agent.stop() == 0


def test_labels_of_a_target(start_agent, standin, chain):
    target = pid_target(chain.pid, service_name="known", region="north", __meta_secret="hidden", __name__="my_cpu")
    agent = start_agent(chain_config(standin, chain, targets=[target])).wait_ready()
    labels = standin.wait_pushes()[0].labels
    assert {"service_name": "known", "region": "north", "__name__": "my_cpu"}.items() <= labels.items()
    assert [n for n in labels if n.startswith("__")] == ["__name__"], labels
    assert agent.stop() == 0
    assert {p.labels["service_name"] for p in standin.pushes()} == {"known"}


@pytest.mark.parametrize("kernel, user", [(True, False), (False, True)])
def test_only_one_half_of_the_stacks(start_agent, standin, processes, programs, kernel, user):
    target = processes.start(programs["syscalls"], 50)
    text = chain_config(standin, target, collect_kernel_profile=kernel, collect_user_profile=user, rate=199, interval="1s")
    agent = start_agent(text).wait_ready()
    stacks = stacks_of(standin.wait_pushes())
    assert any("ksys_read" in f for f in stacks) == kernel, stacks
    assert any("reader" in f for f in stacks) == user, stacks
    assert agent.stop() == 0


def test_unusable_targets_are_said(start_agent, standin, chain):
    targets = [pid_target(chain.pid, service_name="known"), {"service_name": "nokey"}, {"__process_pid__": "abc"}]
    agent = start_agent(config(standin.url, targets=targets, targets_only=True, interval="1s")).wait_ready()
    standin.wait_pushes(service_name="known")
    said = [line for line in agent.log_lines(level="warn") if "are ignored" in line["msg"]]
    assert [line["ignored"] for line in said] == ["2"], agent.log
    assert agent.stop() == 0


def test_empty_targets_profile_nothing_and_say_so(start_agent, standin, chain):
    agent = start_agent(config(standin.url, targets=[], targets_only=True, interval="1s")).wait_ready()
    agent.wait_metric(lambda m: m.get("pyroscope_ebpf_profiling_sessions_total") >= 1, 10, "a session")
    said = [line for line in agent.log.splitlines() if re.search(r"no targets|targets.*empty|empty.*targets|no usable target", line, re.I)]
    assert len(said) == 1, agent.log
    _, health = agent.get("/-/healthy")
    assert "target" in health.lower() or "pyroscope.ebpf" in health, health
    assert agent.stop() == 0
    assert standin.pushes() == []


def test_flags_stand_before_or_after_the_file(processes, standin, tmp_path):
    path = tmp_path / "a.alloy"
    path.write_text(config(standin.url))
    port = free_port()
    agent = processes.start(paths.XAGENT, "run", f"--server.http.listen-addr=127.0.0.1:{port}", path, cwd=tmp_path)
    wait_until(lambda: _connects(port) or not agent.running(), 10, "it listens")
    assert agent.running(), agent.err
    agent.send(signal.SIGTERM)
    assert agent.wait(10) == 0


def _connects(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


# HTTP side

def test_probes_and_metrics(start_agent, standin, chain):
    agent = start_agent(chain_config(standin, chain, interval="1s")).wait_ready()
    assert agent.get("/-/ready")[0] == 200
    assert agent.get("/-/healthy")[0] == 200
    assert agent.get("/nothing/here")[0] == 404
    m = agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total") >= 2, 15, "two profiles sent")
    for name in ("pyroscope_ebpf_active_targets", "pyroscope_ebpf_profiling_sessions_total",
                 "pyroscope_ebpf_profiling_sessions_failing_total"):
        assert m.value(name, component_id="pyroscope.ebpf.instance", component_path="/") >= 0
    for name in ("pprofs", "pprof_bytes", "pprof_samples"):
        assert m.value(f"pyroscope_ebpf_{name}_total", service_name="known") > 0
    for name in ("sent_bytes", "sent_profiles"):
        assert m.value(f"pyroscope_write_{name}_total", endpoint=standin.url, component_id="pyroscope.write.endpoint") > 0
    for name in ("dropped_bytes", "dropped_profiles", "retries"):
        assert m.value(f"pyroscope_write_{name}_total", endpoint=standin.url) == 0
    assert m.types["pyroscope_write_latency"] == "histogram"
    assert m.value("pyroscope_write_latency_count") > 0
    assert m.value("pyroscope_ebpf_active_targets") == 1
    assert agent.stop() == 0


def test_one_line_an_interval(start_agent, standin, chain):
    agent = start_agent(chain_config(standin, chain, interval="1s")).wait_ready()
    wait_until(lambda: len(standin.pushes()) >= 3, 15, "three pushes")
    assert agent.stop() == 0
    lines = [line for line in agent.log.splitlines() if "spin" in line]
    assert len(lines) >= 2 and all("level=info" in line and "known" in line for line in lines), agent.log


# The end

@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_signal_flushes_the_open_interval(start_agent, standin, chain, signo):
    agent = start_agent(chain_config(standin, chain, interval="60s", rate=199)).wait_ready()
    agent.wait_metric(lambda m: m.agent("samples_received") - m.dropped_samples() >= 200, 20, "200 samples")
    assert standin.pushes() == []
    m = agent.metrics()
    assert agent.stop(signo) == 0
    assert standin.samples() >= m.agent("samples_received") - m.dropped_samples()
    assert services_with(standin.pushes(), "spin")["known"] >= 190


def test_second_signal_does_not_wait_for_the_server(start_agent, standin, chain):
    standin.set_mode("hang")
    agent = start_agent(chain_config(standin, chain, interval="1s", timeout="30s")).wait_ready()
    agent.wait_metric(lambda m: m.agent("samples_received") > 0, 10, "samples")
    agent.process.send(signal.SIGTERM)
    wait_until(lambda: agent.log_lines() and _mentions_end(agent.log), 10, "it says that it ends")
    agent.process.send(signal.SIGTERM)
    agent.process.wait(10)


def _mentions_end(log):
    return re.search(r"interrupt|signal|stopping|shutting down|SIGTERM", log, re.I)


# Faults of the server

def test_server_that_is_down_is_named_once(start_agent, chain):
    url = f"http://127.0.0.1:{free_port()}"
    text = config(url, interval="1s", targets=[pid_target(chain.pid, service_name="known")], targets_only=True)
    agent = start_agent(text).wait_ready()
    agent.wait_metric(lambda m: m.get("pyroscope_write_retries_total") >= 5, 20, "five attempts")
    lines = [line for line in agent.log.splitlines() if url in line]
    assert len(lines) == 1, agent.log
    assert re.search(r"level=(warn|error)", lines[0]) and "refused" in lines[0].lower(), lines
    assert agent.get("/-/ready")[0] == 200
    health = agent.get("/-/healthy")[1]
    assert url in health and "kept" in health and "refused" in health.lower(), health
    agent.process.send(signal.SIGTERM)
    assert agent.process.wait(30) == 0


def test_server_that_comes_back_gets_everything(start_agent, standin, chain):
    standin.set_mode("500")
    agent = start_agent(chain_config(standin, chain, interval="1s")).wait_ready()
    agent.wait_metric(lambda m: m.get("pyroscope_write_retries_total") >= 3, 20, "three attempts")
    standin.set_mode("ok")
    assert_everything_arrives(agent, standin)
    assert agent.stop() == 0


@pytest.mark.parametrize("mode", ["429", "503", "reset", "hang"])
def test_passing_fault_loses_nothing(start_agent, standin, chain, mode):
    agent = start_agent(chain_config(standin, chain, interval="1s", timeout="1s")).wait_ready()
    standin.wait_pushes()
    standin.set_mode(mode)
    agent.wait_metric(lambda m: m.get("pyroscope_write_retries_total") >= 2, 20, "two attempts")
    standin.set_mode("ok")
    assert_everything_arrives(agent, standin)
    assert agent.stop() == 0


def test_refused_profile_is_dropped_and_counted(start_agent, standin, chain):
    standin.set_mode("400")
    agent = start_agent(chain_config(standin, chain, interval="1s")).wait_ready()
    m = agent.wait_metric(lambda m: m.get("pyroscope_write_dropped_profiles_total") >= 2, 15, "two profiles dropped")
    assert m.get("pyroscope_write_retries_total") == 0
    assert m.get("pyroscope_write_dropped_bytes_total") > 0
    assert standin.pushes() == []
    # Whoever reads one line an interval, or asks for health, sees that nothing arrives.
    assert " lost, last error: " in agent.get("/-/healthy")[1]
    wait_until(lambda: any(int(line["lost"]) > 0 for line in agent.log_lines(msg="interval profiled")), 10,
               "an interval's line tells the loss")
    standin.set_mode("ok")
    standin.wait_pushes(service_name="known")
    assert agent.stop() == 0


def assert_everything_arrives(agent, standin):
    """At rest, between two intervals, what was pushed is what is in profiles."""
    def settled():
        m = agent.metrics()
        pushed = standin.samples()
        return pushed > 0 and pushed == m.agent("samples_in_profiles") == agent.metrics().agent("samples_in_profiles")
    wait_until(settled, 20, "every sample has been pushed")
    m = agent.metrics()
    assert m.agent("push_queue_dropped_profiles") == 0 and m.get("pyroscope_write_dropped_profiles_total") == 0


# Mistakes of the user

def run_with(processes, tmp_path, text, *arguments, name="bad.alloy"):
    path = tmp_path / name
    path.write_text(text)
    return processes.run(paths.XAGENT, "run", path, f"--server.http.listen-addr=127.0.0.1:{free_port()}", *arguments,
                         cwd=tmp_path, seconds=15)


@pytest.mark.parametrize("text, where, names", [
    ("logging {\n\tlevel = \n}\n", "bad.alloy:", "expression"),
    ("pyroscope.ebpf \"a\" {\n", "bad.alloy:", ""),
    ("pyroscope.ebpf \"a\" {\n\tforward_to = []\n\tsample_rat = 97\n}\n", "bad.alloy:3:2", "sample_rat"),
    ("pyroscope.ebfp \"a\" {\n\tforward_to = []\n}\n", "bad.alloy:1:1", "pyroscope.ebfp"),
    ("pyroscope.ebpf \"a\" {\n}\n", "bad.alloy:1:1", "forward_to"),
    ("pyroscope.ebpf \"a\" {\n\tforward_to = [pyroscope.write.b.receiver]\n}\n", "bad.alloy:2:", "pyroscope.write.b"),
    ("pyroscope.ebpf \"a\" {\n\tforward_to = []\n\tcollect_interval = \"soon\"\n}\n", "bad.alloy:3:", "soon"),
    ("pyroscope.ebpf \"a\" {\n\tforward_to = []\n\tsample_rate = 0\n}\n", "bad.alloy:3:", "sample_rate"),
    ("pyroscope.write \"a\" {\n\tendpoint {\n\t}\n}\n", "bad.alloy:", "url"),
    ("logging {\n\tlevel = \"loud\"\n}\n", "bad.alloy:2:", "loud"),
    ("\x00\x01\xff garbage", "bad.alloy:1:1", ""),
], ids=["no value", "no end", "unknown argument", "unknown component", "missing argument", "unknown reference", "bad duration",
        "zero rate", "missing url", "bad level", "binary"])
def test_malformed_configuration(processes, tmp_path, text, where, names):
    run = run_with(processes, tmp_path, text)
    assert run.popen.returncode == 1, run.err
    assert where in run.err and names in run.err, run.err
    # Nothing can be marked behind the end of the file.
    markers = [line for line in run.err.splitlines() if "|" in line and set(line) <= set("^|_ ")]
    assert markers and ("^" in markers[0] or "EOF" in run.err), f"no caret:\n{run.err}"


def test_unreadable_configuration(processes, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, reason in ((tmp_path / "absent.alloy", "No such file"), (tmp_path / "loop", "Too many levels")):
        run = processes.run(paths.XAGENT, "run", path, f"--server.http.listen-addr=127.0.0.1:{free_port()}", cwd=tmp_path, seconds=10)
        assert run.popen.returncode == 1
        said = [line for line in run.err.splitlines() if line.startswith("Error: ") and str(path) in line]
        assert len(said) == 1 and reason in said[0], run.err


@pytest.mark.parametrize("arguments, names", [
    (["a.alloy", "b.alloy"], "one configuration"), (["--config.watch"], "needs PATH"),
    (["a.alloy", "--push.url=http://127.0.0.1:1"], "pyroscope.write block"), (["--push.url=127.0.0.1:1"], "http://"),
    (["a.alloy", "--otlp.endpoint=http://127.0.0.1:1"], "otelcol.exporter.otlphttp block"), (["--otlp.endpoint=127.0.0.1:1"], "http://"),
    (["--push.url=http://user:s\"x@127.0.0.1:1"], "%XX"), (["--config.format=static"], "is not supported"), (["a.alloy", "--frobnicate"], "frobnicate"),
    (["a.alloy", "--server.http.listen-adr=127.0.0.1:1"], "--server.http.listen-addr"),
    (["a.alloy", "--server.http.listen-addr=nonsense"], "nonsense"), (["a.alloy", "--server.http.listen-addr=127.0.0.1:99999"], "99999"),
], ids=["two files", "nothing to watch", "server beside a file", "no scheme", "server of OTLP beside a file", "no scheme of OTLP", "bad password", "bad format", "unknown", "misspelt", "no port", "bad port"])
def test_wrong_arguments(processes, tmp_path, standin, arguments, names):
    for name in ("a.alloy", "b.alloy"):
        (tmp_path / name).write_text(config(standin.url))
    run = processes.run(paths.XAGENT, "run", *arguments, cwd=tmp_path, seconds=10)
    assert run.popen.returncode in (1, 2) and names in run.err, run.err
    assert len(run.err.strip().splitlines()) <= 2, run.err


def test_port_in_use(processes, tmp_path, standin):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        address = f"127.0.0.1:{s.getsockname()[1]}"
        path = tmp_path / "a.alloy"
        path.write_text(config(standin.url))
        run = processes.run(paths.XAGENT, "run", path, f"--server.http.listen-addr={address}", cwd=tmp_path, seconds=10)
    assert run.popen.returncode == 1
    said = [line for line in run.err.splitlines() if address in line]
    assert len(said) == 1 and "in use" in said[0], run.err


@pytest.fixture
def public_xagent():
    """A copy of the program that anybody may run, and a folder that anybody may enter."""
    directory = Path(tempfile.mkdtemp(prefix="xagent-public-"))
    directory.chmod(0o755)
    copy = directory / "xagent"
    shutil.copy(paths.XAGENT, copy)
    copy.chmod(0o755)
    yield copy
    shutil.rmtree(directory)


@pytest.mark.parametrize("command", ["run", "profile"])
def test_no_privileges(processes, standin, public_xagent, command):
    reason = privileges.why_no_tool("setpriv")
    if reason:
        pytest.skip(reason)
    path = public_xagent.parent / "a.alloy"
    path.write_text(config(standin.url))
    path.chmod(0o644)
    arguments = ("run", path, f"--server.http.listen-addr=127.0.0.1:{free_port()}") if command == "run" else ("profile", "-d", "1")
    run = processes.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", public_xagent, *arguments,
                        cwd=public_xagent.parent, seconds=15)
    assert run.popen.returncode == 1, run.err
    said = [line for line in run.err.splitlines() if "CAP_" in line or "root" in line]
    assert len(said) == 1, run.err
    assert "CAP_BPF" in said[0] or "root" in said[0], said


def test_lost_privilege_is_named(processes, public_xagent):
    """Root without one capability, as in a container with too few: the missing one has a name."""
    reason = privileges.why_no_tool("setpriv")
    if reason:
        pytest.skip(reason)
    run = processes.run("setpriv", "--bounding-set=-bpf,-sys_admin", "--inh-caps=-bpf,-sys_admin", public_xagent, "profile", "-d", "1",
                        cwd=public_xagent.parent, seconds=15)
    assert run.popen.returncode == 1, run.err
    assert "CAP_BPF" in run.err and len(run.err.strip().splitlines()) == 1, run.err


def test_privilege_that_names_need_is_named(processes, public_xagent):
    """Without it everything works, only half of it: that is said once, with what to do."""
    reason = privileges.why_no_tool("setpriv")
    if reason:
        pytest.skip(reason)
    run = processes.run("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", public_xagent, "profile", "-d", "1", "-f", "folded", "-o", "out",
                        cwd=public_xagent.parent, seconds=15)
    assert run.popen.returncode == 0, run.err
    said = [line for line in run.err.splitlines() if "CAP_" in line]
    assert len(said) == 1 and "CAP_SYS_PTRACE" in said[0] and "DAC" not in said[0], run.err


def test_address_that_is_not_set(start_agent, standin):
    """A url out of a variable that is not there: the agent runs, as it would with the server being away, and says what is wrong."""
    text = config(standin.url).replace(f'"{standin.url}"', 'sys.env("XAGENT_TEST_NOT_SET")')
    agent = start_agent(text).wait_ready()
    status, body = agent.get("/-/healthy")
    assert status == 500 and "pyroscope.write.endpoint" in body and "empty url" in body, body
    assert agent.log_lines(level="error", component_id="pyroscope.write.endpoint"), agent.log
    assert agent.stop() == 0


def test_nothing_is_left_behind(start_agent, standin, chain):
    """No BPF program, map or link outlives the agent."""
    if privileges.why_no_tool("bpftool"):
        pytest.skip("not installed: bpftool")
    before = bpf_ids()
    agent = start_agent(chain_config(standin, chain)).wait_ready()
    assert bpf_ids() - before
    agent.process.send(signal.SIGKILL)
    agent.process.wait(10)
    wait_until(lambda: not bpf_ids() - before, 10, "the kernel has freed everything")


def bpf_ids():
    """Kind and id of everything BPF that the kernel holds."""
    result = set()
    for kind in ("prog", "map", "link"):
        text = subprocess.run(["bpftool", kind, "list"], capture_output=True, text=True, check=True).stdout
        result |= {(kind, line.split(":")[0]) for line in text.splitlines() if re.match(r"\d+:", line)}
    return result
