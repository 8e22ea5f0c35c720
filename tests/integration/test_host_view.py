# SPDX-License-Identifier: Apache-2.0
"""Places from which not all of a host is seen: what is missing is said with the line that cures it, and the rest has its right names."""
import os

import pytest

from harness import docker as docker_harness
from harness import paths, privileges
from harness.agent import AUTH, config
from harness.processes import wait_until
from harness.standin import services_with, stacks_of

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

STRANGER = "outside-pid-namespace"
UNNUMBERED = ("processes outside of this pid namespace have no number here: they are named after their control group, their programs' "
              "functions have no names")
NESTED = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


@pytest.fixture(autouse=True)
def _tools():
    reason = privileges.why_no_tool("unshare", "setpriv")
    if reason:
        pytest.skip(reason)


def into(cgroup):
    """What a child does before its exec, so that it never runs elsewhere."""
    return lambda: (cgroup / "cgroup.procs").write_text("0")


@pytest.fixture
def service():
    """A control group named as systemd names a service's; removed when whoever is in it has ended."""
    reason = privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    path = privileges.cgroup2_root() / f"xagent_test_{os.getpid()}.slice" / "burner.service"
    path.mkdir(parents=True)
    yield path
    wait_until(lambda: not (path / "cgroup.procs").read_text() and not (path.parent / "cgroup.procs").read_text(), 10, "it is empty")
    path.rmdir()
    path.parent.rmdir()


def findings(agent):
    """finding → its line of the log; each is there once."""
    lines = [line for line in agent.log_lines(level="warn") if line["msg"] == "part of this host is not seen"]
    assert len({line["finding"] for line in lines}) == len(lines), lines
    return {line["finding"]: line for line in lines}


def cure(docker):
    """What is said in a container of Docker's, and elsewhere."""
    return ("`docker run --pid=host`, in a Compose file `pid: host`" if docker else
            "start xagent outside of this pid namespace (a systemd unit: `PrivatePIDs=no`)")


def ticks_without(pushes, name):
    """Of stacks in which no frame has this name."""
    return sum(n for frames, n in stacks_of(pushes).items() if name not in frames)


def test_nested_pid_namespace(service, start_agent, standin, processes, programs):
    outside = processes.start(programs["chain"], 60, preexec_fn=into(service))
    nowhere = processes.start(programs["deep"], 60, 7)
    agent = start_agent(config(standin.url, interval="1s", rate=199) + AUTH,
                        prefix=(*NESTED, "sh", "-c", f'{programs["chain_static"]} 60 & exec "$@"', "sh")).wait_ready()
    wait_until(lambda: min(standin.samples(service_name=n) for n in ("chain_static", "burner", STRANGER)) >= 50, 20,
               "who is inside, whose control group is a service's, and who has neither")
    assert outside.running() and nowhere.running()
    said = findings(agent)
    assert set(said) == {"pid_namespace"}, said
    assert said["pid_namespace"]["missing"] == UNNUMBERED
    check_told(agent)
    pushes = standin.pushes()
    # Inside all is as ever; nobody outside gets these names, nor has frames that are others'.
    assert set(services_with(pushes, "alpha", "beta", "gamma", "spin")) == {"chain_static"}
    for name in ("burner", STRANGER):
        assert ticks_without(standin.pushes(service_name=name), "spin") > 0
    assert not {"process", "unknown", "unspecified", "idle", "chain", "deep"} & {p.labels["service_name"] for p in pushes}
    m = agent.metrics()
    assert m.agent("samples_outside_pid_namespace") >= 100
    assert m.value("xagent_host_view", finding="pid_namespace") == 1 and m.value("xagent_host_view", finding="hidepid") == 0


def check_told(agent):
    """Health, debug information and the support bundle."""
    assert f"healthy: profiling; part of this host is not seen: {UNNUMBERED}; to see it: " in agent.get("/-/healthy")[1]
    assert '"pid_namespace"' in agent.get_authorized("/api/v0/web/components/pyroscope.ebpf.instance")[1]
    assert f"\npid_namespace: {UNNUMBERED}; " in agent.support_bundle()["facts.txt"]


def test_another_namespaces_proc(service, start_agent, standin, processes, programs):
    """Its numbers are of others: nobody is called by them."""
    processes.start(programs["chain"], 60, preexec_fn=into(service))
    agent = start_agent(config(standin.url, interval="1s", rate=199),
                        prefix=("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", f'{programs["deep"]} 60 7 & exec "$@"', "sh")).wait_ready()
    wait_until(lambda: min(standin.samples(service_name=n) for n in ("burner", STRANGER)) >= 50, 20, "two control groups")
    said = findings(agent)
    assert set(said) == {"foreign_proc", "pid_namespace"}, said
    assert said["foreign_proc"]["missing"].startswith("/proc shows another pid namespace than the one xagent runs in: ")
    assert not {"chain", "deep", "kthreadd", "xagent"} & {p.labels["service_name"] for p in standin.pushes()}


def test_nested_with_a_cgroup_namespace(service, start_agent, standin, processes, programs):
    """The hierarchy's upper part is not there: nobody outside can be named."""
    root = privileges.cgroup2_root()
    mount = f"umount {root} && mount -t cgroup2 none {root}"
    processes.start(programs["chain"], 60, preexec_fn=into(service))
    agent = start_agent(config(standin.url, interval="1s", rate=199), preexec_fn=into(service),
                        prefix=(*NESTED, "-C", "sh", "-c", f'{mount} && exec "$@"', "sh")).wait_ready()
    wait_until(lambda: standin.samples(service_name=STRANGER) >= 50, 20, "those outside are profiled")
    said = findings(agent)
    assert {"pid_namespace", "cgroup_namespace"} <= set(said), said
    assert said["pid_namespace"]["fix"] == cure(os.path.exists("/.dockerenv"))
    assert said["cgroup_namespace"]["missing"].startswith("control groups outside of our own cannot be looked up: ")
    assert "(also: cgroup_namespace)" in agent.get("/-/healthy")[1]


def test_cgroup_namespace_that_hides_nothing(service, start_agent, standin, processes, programs):
    """The host's hierarchy is still mounted, and pids are the host's."""
    processes.start(programs["chain"], 60, preexec_fn=into(service))
    agent = start_agent(config(standin.url, interval="1s", rate=199), preexec_fn=into(service.parent),
                        prefix=("unshare", "-C")).wait_ready()
    wait_until(lambda: standin.samples(service_name="burner") >= 50, 20, "the service is profiled")
    assert findings(agent) == {}
    assert agent.stop() == 0
    assert "burner" in services_with(standin.pushes(), "alpha", "beta", "gamma", "spin")


def test_hidepid(start_agent, standin, processes, programs):
    """A process of before is called as its samples say; one of later is known from its events."""
    mount = "mount -t proc -o hidepid=2,gid=65534 proc /proc"
    processes.start(programs["deep"], 60, 7)
    agent = start_agent(config(standin.url, interval="1s", rate=199),
                        prefix=("unshare", "-m", "sh", "-c", f'{mount} && exec setpriv --bounding-set -sys_ptrace "$@"', "sh")).wait_ready()
    processes.start(programs["chain"], 60)
    wait_until(lambda: min(standin.samples(service_name=n) for n in ("chain", "deep")) >= 50, 20, "both are profiled")
    said = findings(agent)
    assert set(said) == {"hidepid"}, said
    assert said["hidepid"]["missing"].startswith("/proc is mounted with hidepid: ")
    assert "SYS_PTRACE" in said["hidepid"]["fix"]
    assert agent.metrics().value("xagent_host_view", finding="hidepid") == 1
    assert agent.stop() == 0
    assert "chain" in services_with(standin.pushes(), "alpha", "beta", "gamma", "spin")


def test_profile_says_it_too(processes, tmp_path):
    path = tmp_path / "out.folded"
    run = processes.run(*NESTED, paths.XAGENT, "profile", "-d", 1, "-f", "folded", "-o", path)
    assert f"xagent: part of this host is not seen: {UNNUMBERED}; to see it: " in run.err
    assert not [line for line in path.read_text().splitlines() if line.startswith("idle;")]
    # Who names processes has them in sight.
    run = processes.run(*NESTED, "sh", "-c", f'{paths.XAGENT} profile -p $$ -d 0.2 -f folded -o {path}')
    assert "not seen" not in run.err


def test_nothing_matches(start_agent, standin, processes, programs):
    """Samples are seen, and none is of a target: said after three intervals, with a process to compare with; and it ends."""
    chain = processes.start(programs["chain"], 60)
    text = {pid: config(standin.url, interval="0.4s", rate=199, targets=[{"__process_pid__": pid, "service_name": "x"}])
            for pid in ("4000000", str(chain.pid))}
    agent = start_agent(text["4000000"]).wait_ready()
    wait_until(lambda: "nothing is profiled: none of" in agent.get("/-/healthy")[1], 15, "health says so")
    health = agent.get("/-/healthy")[1]
    assert "of a process that a target selects (1 targets); for example " in health and "(__process_pid__ " in health, health
    assert [line for line in agent.log_lines(level="warn") if line["msg"].startswith("nothing is profiled: samples are seen")]
    agent.config_path.write_text(text[str(chain.pid)])
    assert agent.get("/-/reload")[0] == 200
    standin.wait_pushes(service_name="x")
    wait_until(lambda: "instance: healthy: profiling" in agent.get("/-/healthy")[1], 10, "health says that it is over")
    assert agent.stop() == 0


# Daemons older than CAP_BPF and CAP_PERFMON do not know these.
CAPABILITIES = ("SYS_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH", "SYSLOG")
HOST_FILES = {name: name for name in ("/bin", "/lib", "/lib64") if os.path.islink(name)}


@pytest.fixture
def docker(processes):
    reason = docker_harness.why_not()
    if reason:
        pytest.skip(reason)
    if "/bin" not in HOST_FILES:
        pytest.skip("/bin is no link into /usr")
    daemon = docker_harness.Docker(processes)
    try:
        daemon.image("host:1", HOST_FILES)
        yield daemon
    finally:
        daemon.end()


def in_container(docker, directory, *options):
    """What starts a program in a container that has this host's programs, beside the command of $BESIDE."""
    volumes = [f"-v={path}:{path}:ro" for path in {"/usr", paths.BUILD, paths.FIXTURES, paths.XAGENT.parent}]
    return ("docker", "-H", docker.socket, "run", "--network=host", f"--cidfile={directory}/{len(options)}.cid",
            *(f"--cap-add={name}" for name in CAPABILITIES), "--security-opt=seccomp=unconfined", *volumes, f"-v={directory}:{directory}", *options, "host:1", "/usr/bin/sh", "-c", '"$0" 60 & exec "$@"')


def test_container_with_and_without_the_hosts_pids(start_agent, standin, processes, programs, docker, tmp_path):
    processes.start(programs["chain"], 60)
    text = config(standin.url, interval="1s", rate=199) + AUTH
    agent = start_agent(text, prefix=(*in_container(docker, tmp_path), programs["chain_static"])).wait_ready(30)
    inside = (tmp_path / "0.cid").read_text()[:12], "chain_static"
    wait_until(lambda: max(standin.samples(service_name=n) for n in inside) >= 50 and standin.samples(service_name=STRANGER) >= 50, 20,
               "who is inside, and who is not")
    said = findings(agent)
    assert said["pid_namespace"]["missing"] == UNNUMBERED and said["pid_namespace"]["fix"] == cure(True), said
    assert set(said) <= {"pid_namespace", "no_cgroup", "cgroup_namespace"}, said
    check_told(agent)
    assert set(services_with(standin.pushes(), "alpha", "beta", "gamma", "spin")) <= set(inside)
    seen = start_agent(text, name="second.alloy",
                       prefix=(*in_container(docker, tmp_path, "--pid=host"), programs["chain_static"])).wait_ready(30)
    wait_until(lambda: services_with(standin.pushes(service_name="chain"), "alpha", "beta", "gamma", "spin"), 20, "the host's processes have names")
    assert not {"pid_namespace", "foreign_proc", "hidepid"} & set(findings(seen)), seen.log
