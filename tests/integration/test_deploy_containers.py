# SPDX-License-Identifier: Apache-2.0
"""What is in deploy/ for containers: the image, the Compose file, the Kubernetes manifests and the Helm chart."""
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="not installed: python3-yaml")

from harness import burning  # noqa: E402
from harness import docker as docker_harness  # noqa: E402
from harness import helm, paths, privileges, pyroscope, runc  # noqa: E402
from harness.agent import fetch  # noqa: E402
from harness.kube_api import KubeApi  # noqa: E402
from harness.kube_objects import container_status, pod  # noqa: E402
from harness.processes import Processes, free_port, wait_until  # noqa: E402
from harness.standin import services_with, stacks_of  # noqa: E402

pytestmark = pytest.mark.agent

DEPLOY = paths.TOP / "deploy"
DOCKER, KUBERNETES = DEPLOY / "docker", DEPLOY / "kubernetes"
COMPOSE = DOCKER / "docker-compose.yaml"
# What deploy/README.md says that it needs.
CAPABILITIES = {"BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "SYSLOG"}
# Versions, not names that move: 1.2.3, perhaps with more behind it.
PINNED = re.compile(r":v?\d+\.\d+\.\d+[\w.-]*$")


def validate(text, directory, laid_out=True):
    path = directory / "agent.alloy"
    path.write_text(text)
    result = subprocess.run([paths.XAGENT, "validate", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    result = subprocess.run([paths.XAGENT, "fmt", "-t", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0 or not laid_out, f"xagent fmt would change it:\n{text}"


# The image

@pytest.fixture(scope="module")
def rootfs(tmp_path_factory):
    """What the Dockerfile's build stage leaves, made of the program under test; never a stage that needs a registry."""
    reason = privileges.why_no_tool("busybox", "strip", "dpkg-query")
    if reason:
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("image")
    result = subprocess.run([DOCKER / "rootfs.sh", paths.XAGENT, directory / "rootfs"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return directory / "rootfs"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The demo's program."""
    reason = privileges.why_no_tool("gcc")
    if reason:
        pytest.skip(reason)
    path = tmp_path_factory.mktemp("demo") / "shop"
    subprocess.run(["gcc", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", path, DOCKER / "demo" / "demo.c"], check=True)
    return path


@pytest.fixture(scope="module")
def docker(tmp_path_factory, rootfs, shop):
    """A daemon with the images of xagent and of the demo."""
    reason = docker_harness.why_not()
    if reason:
        pytest.skip(reason)
    processes = Processes(tmp_path_factory.mktemp("docker"))
    daemon = docker_harness.Docker(processes)
    try:
        reason = daemon.build("xagent", DOCKER / "Dockerfile", rootfs.parent, ROOT="prebuilt")
        if reason:
            pytest.skip(reason)
        daemon.image("shop", {"/shop": shop})
        yield daemon
    finally:
        daemon.end()
        processes.end_all()


def test_image_holds_what_it_needs_and_no_more(docker, rootfs):
    image = docker.inspect("xagent")
    config = image["Config"]
    assert config["Entrypoint"] == ["xagent"] and config["Cmd"] == ["run", "/etc/xagent"]
    assert list(config["ExposedPorts"]) == ["12345/tcp"] and config["User"] == "0" and config["Healthcheck"]
    assert config["Labels"]["org.opencontainers.image.title"] == "xagent"
    # 26 MB when this was written; a build's tools or symbols would be a multiple.
    assert image["Size"] < 45e6, image["Size"]
    assert (rootfs / "usr/bin/xagent").stat().st_size < paths.XAGENT.stat().st_size / 2, "it is not stripped"
    # For vulnerability scanners and for who gets the image.
    packages = {p.name for p in (rootfs / "var/lib/dpkg/status.d").iterdir()}
    assert {"libc6", "ca-certificates", "busybox-static"} <= packages
    assert {p.name for p in (rootfs / "usr/share/doc").iterdir()} == packages | {"xagent"}


def test_image_runs_without_anything(docker):
    """No network, no mounts, no capabilities: the libraries are complete, and the configuration it has is right."""
    bare = ("run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", "xagent")
    code, said = docker.try_out(*bare, "--version")
    assert code == 0 and said.startswith("xagent "), said
    assert docker.try_out(*bare, "validate", "/etc/xagent") == (0, "")
    code, said = docker.try_out(*bare)
    assert code == 1 and "CAP_BPF" in said, said


def compose():
    return yaml.safe_load(COMPOSE.read_text())["services"]


def options_of(service, docker, standin):
    """`docker run`'s for a service of the Compose file. Its server is the stand-in, its daemon the one of the test, which
    has no networks; with the name that a container of another network would have."""
    yield from (f"--pid={service['pid']}", "--network=host", "--hostname=0123456789ab", "--cap-drop=ALL", "--read-only")
    yield from (f"--env={name}={value}" for name, value in {**service["environment"], "PYROSCOPE_URL": standin.url}.items())
    yield from (f"--security-opt={option}" for option in service["security_opt"])
    yield from (f"--tmpfs={path}" for path in service["tmpfs"])
    for capability in capabilities_of(service, docker):
        yield f"--cap-add={capability}"
    for volume in service["volumes"]:
        source, rest = volume.split(":", 1)
        source = docker.path if source == "/var/run/docker.sock" else (DOCKER / source).resolve()
        yield f"--volume={source}:{rest}"


def capabilities_of(service, docker):
    """The file's, or where this daemon does not know them, what the file tells to write instead."""
    wanted = set(service["cap_add"])
    code, said = docker.try_out("create", "--network=none", "--cap-add=BPF", "xagent")
    if code == 0:
        return wanted
    assert "unknown capability" in said, said
    print("this dockerd knows neither BPF nor PERFMON: SYS_ADMIN instead")
    return wanted - {"BPF", "PERFMON"} | {"SYS_ADMIN"}


def test_docker_run_of_the_readme():
    """It gives the container what the Compose file gives it, but for what that has of its own: names, networks, Docker's socket."""
    text = re.sub(r" \\\n\s+", " ", (DEPLOY / "README.md").read_text())
    words = re.search(r"^    docker run (.*)$", text, re.M)[1].split()
    pairs = [word.split("=", 1) for word in words if word.startswith("--") and "=" in word]
    after = {flag: [words[i + 1] for i, word in enumerate(words) if word == flag] for flag in ("-v", "--tmpfs", "--security-opt", "-e")}
    service = compose()["xagent"]
    assert {value for flag, value in pairs if flag == "--cap-add"} == set(service["cap_add"]) == CAPABILITIES
    assert [value for flag, value in pairs if flag == "--cap-drop"] == service["cap_drop"]
    assert ["--pid", service["pid"]] in pairs and "--read-only" in words and service["read_only"]
    assert after["--tmpfs"] == service["tmpfs"]
    assert {re.sub(r"[=:]true$", "", option).replace("=", ":") for option in after["--security-opt"]} == {
        option.removesuffix(":true") for option in service["security_opt"]}
    assert set(after["-v"]) == {volume for volume in service["volumes"] if volume.startswith("/sys/")}
    assert [value.split("=")[0] for value in after["-e"]] == ["PYROSCOPE_URL"] and words[-1] == "xagent"


@pytest.mark.bpf
def test_container_profiles_containers_and_the_host(docker, standin, processes, programs):
    """As the Compose file runs it, with its own configuration: the demo under its Compose name, the rest of the host under others."""
    docker.create("shop", "/shop", name="shop", labels=["com.docker.compose.project=xagent-demo", "com.docker.compose.service=shop"])
    docker.start("shop")
    processes.start(programs["chain"], 60).wait_for_output("main")
    port = free_port()
    options = tuple(options_of(compose()["xagent"], docker, standin))
    command = [word.replace(":12345", f"127.0.0.1:{port}") for word in compose()["xagent"]["command"]]
    agent, _ = docker.run("xagent", *command, options=options)

    def ready():
        try:
            return fetch(f"http://127.0.0.1:{port}/-/ready")[0] == 200
        except OSError:
            return False
    try:
        wait_until(ready, 20, "the agent is ready")
        health = docker.inspect("xagent")["Config"]["Healthcheck"]["Test"]
        assert health[0] == "CMD" and health[-1].startswith("http://127.0.0.1:12345/")
        probe = ("exec", agent, *health[1:-1])
        assert docker.try_out(*probe, health[-1].replace("12345", str(port)))[0] == 0
        assert docker.try_out(*probe, f"http://127.0.0.1:{free_port()}/-/ready")[0] != 0
        wait_burned(docker.pids("shop")[0])
        assert fetch(f"http://127.0.0.1:{port}/-/healthy")[0] == 200
        assert docker.try_out("stop", "-t", "10", agent)[0] == 0
        state = docker.inspect(agent)["State"]
        assert state["ExitCode"] == 0, docker.try_out("logs", agent)[1]
    finally:
        docker.remove(agent, "shop")
    pushes = standin.pushes(service_name="xagent-demo/shop")
    assert set(services_with(standin.pushes(), "serve_request")) == {"xagent-demo/shop"}
    assert {(p.labels["compose_project"], p.labels["compose_service"], p.labels["host"]) for p in pushes} == {
        ("xagent-demo", "shop", Path("/etc/hostname").read_text().strip())}
    assert services_with(pushes, "main", "serve_request", "price_basket", "apply_discounts")
    assert services_with(standin.pushes(), "spin"), "the host is not profiled"


def wait_burned(pid):
    """Until it has used half a second more, some fifty ticks. What is sampled is sent when the agent ends: the intervals of these
    configurations are longer than a test waits."""
    enough = burning.cpu_seconds(pid) + 0.5
    wait_until(lambda: burning.cpu_seconds(pid) >= enough, 30, "the shop has burned")


def debian_root(directory):
    """The tar of a Debian root: XAGENT_TEST_IMAGE_BASE, or one that debootstrap makes now."""
    given = os.environ.get("XAGENT_TEST_IMAGE_BASE")
    if given:
        return Path(given)
    reason = privileges.why_no_tool("debootstrap")
    if reason:
        pytest.skip(reason)
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", directory / "root"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tar", "-C", directory / "root", "-cf", directory / "base.tar", "."], check=True)
    return directory / "base.tar"


@pytest.mark.skipif("XAGENT_TEST_IMAGE" not in os.environ, reason="it takes three minutes: `make test-image` runs it")
def test_whole_image_is_built(docker, tmp_path):
    """By the Dockerfile's own build stage, on a base that comes from no registry; packages come from Debian's mirror."""
    with open(debian_root(tmp_path), "rb") as tar:
        subprocess.run(["docker", "-H", docker.socket, "import", "-", "base:1"], stdin=tar, check=True)
    assert docker.build("xagent:whole", DOCKER / "Dockerfile", paths.TOP, "--network=host", BASE="base:1") is None
    code, said = docker.try_out("run", "--rm", "--network=none", "xagent:whole", "--version")
    assert code == 0 and said.startswith("xagent "), said
    code, said = docker.try_out("run", "--rm", "--network=none", "xagent:whole", "validate", "/etc/xagent")
    assert (code, said) == (0, "")


# Compose

def test_compose_file_is_valid():
    reason = privileges.why_no_tool("docker-compose")
    if reason:
        pytest.skip(reason)
    result = subprocess.run(["docker-compose", "-f", COMPOSE, "config", "-q"], cwd=DOCKER, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_compose_file():
    services = compose()
    assert set(services) == {"pyroscope", "prometheus", "grafana", "xagent", "shop"}
    for name, service in services.items():
        assert PINNED.search(service["image"]), f"{name}: {service['image']}"
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), f"{name} is open to the network"
        assert "privileged" not in service and "network_mode" not in service
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert not source.startswith(".") or (DOCKER / source).exists(), f"{name}: {source} does not exist"
            assert source.startswith(("/", ".")) is volume.endswith(":ro"), f"{name}: {volume}"
        for other, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"} and services[other]["healthcheck"]
    assert set(services["xagent"]["cap_add"]) == CAPABILITIES and services["xagent"]["cap_drop"] == ["ALL"]
    assert services["xagent"]["pid"] == "host" and services["xagent"]["environment"]["PYROSCOPE_URL"] == "http://pyroscope:4040"
    scraped = yaml.safe_load((DOCKER / "prometheus.yaml").read_text())["scrape_configs"][0]["static_configs"][0]["targets"]
    assert scraped == ["xagent:12345"] and {"--server.http.listen-addr=:12345", "--server.http.allowed-hosts=xagent"} < set(services["xagent"]["command"])
    sources = (paths.TOP / "grafana" / "datasources").glob("*.yaml")
    urls = {d["url"] for path in sources for d in yaml.safe_load(path.read_text())["datasources"]}
    assert urls <= {"http://pyroscope:4040", "http://prometheus:9090", "http://xagent:12345"}, "the Compose file has no such server"
    version = re.search(r"^VERSION := (\S+)$", (paths.TOP / "Makefile").read_text(), re.M).group(1)
    assert services["xagent"]["image"] == f"xagent:{version}"
    # Nothing is fetched when it starts.
    grafana = services["grafana"]["environment"]
    assert not [name for name in grafana if "INSTALL_PLUGINS" in name or name.startswith("GF_PLUGINS_PREINSTALL_SYNC")]
    assert grafana["GF_PLUGINS_PREINSTALL_DISABLED"] == "true" and grafana["GF_ANALYTICS_CHECK_FOR_UPDATES"] == "false"


# What is built or fetched where there is a registry.
GRAFANA_AND_PROMETHEUS = {"grafana", "prometheus"}


def libraries_of(program):
    """Of a program that is linked with some: path inside → file, not a link to it."""
    result = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    return {path: os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", result.stdout)}


@pytest.fixture
def compose_host(tmp_path, rootfs, shop):
    """A daemon with networks and the images that the Compose file names, as far as they can be made here."""
    reason = docker_harness.why_no_networks() or privileges.why_no_tool("docker-compose", "ldd")
    if reason:
        pytest.skip(reason)
    server, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    processes = Processes(tmp_path)
    daemon = docker_harness.Docker(processes, networks=True)
    try:
        services = compose()
        reason = daemon.build(services["xagent"]["image"], DOCKER / "Dockerfile", rootfs.parent, ROOT="prebuilt")
        if reason:
            pytest.skip(reason)
        daemon.image(services["shop"]["image"], {"/shop": shop}, 'ENTRYPOINT ["/shop"]')
        settings = tmp_path / "config.yaml"
        settings.write_text("{}\n")
        programs = {f"/usr/bin/{name}": server.parent / name for name in ("pyroscope", "profilecli")}
        daemon.image(services["pyroscope"]["image"],
                     {"/etc/pyroscope/config.yaml": settings, **programs, **libraries_of(server)},
                     'ENTRYPOINT ["/usr/bin/pyroscope"]', "WORKDIR /data")
        yield daemon
    finally:
        daemon.end()
        processes.end_all()


def compose_file_for(daemon):
    """The Compose file, with the names that capabilities have for this daemon, and its socket."""
    document = yaml.safe_load(COMPOSE.read_text())
    document["services"] = {name: s for name, s in document["services"].items() if name not in GRAFANA_AND_PROMETHEUS}
    xagent = document["services"]["xagent"]
    xagent["cap_add"] = sorted(capabilities_of(xagent, daemon))
    xagent["volumes"] = [v.replace("/var/run/docker.sock:", f"{daemon.path}:", 1) for v in xagent["volumes"]]
    return yaml.safe_dump(document)


@pytest.mark.bpf
def test_compose_comes_up(compose_host):
    """Pyroscope, xagent and the demo as the file says: networks, names, order, health. The demo's flame graph is in the server."""
    text = compose_file_for(compose_host)

    def compose_cli(*command):
        return subprocess.run(["docker-compose", "-H", compose_host.socket, "-f", "-", *command],
                              cwd=DOCKER, input=text, capture_output=True, text=True, check=False, timeout=120)
    result = compose_cli("up", "-d")
    assert result.returncode == 0, result.stderr + compose_cli("logs").stdout[-4000:]

    def names():
        now = int(time.time() * 1000)
        answer = compose_host.fetch("http://127.0.0.1:4040/querier.v1.QuerierService/SelectMergeStacktraces", json.dumps(
            {"profileTypeID": pyroscope.CPU, "labelSelector": '{service_name="xagent-demo/shop"}', "start": now - 3_600_000, "end": now}))
        return json.loads(answer).get("flamegraph", {}).get("names", ()) if answer else ()
    wait_until(lambda: compose_host.fetch("http://127.0.0.1:12345/-/ready"), 20, "the agent is ready")
    assert "All xagent components are healthy" in compose_host.fetch("http://127.0.0.1:12345/-/healthy")
    wait_burned(compose_host.pids("xagent-demo_shop_1")[0])
    assert compose_cli("stop", "xagent").returncode == 0
    assert {"main", "serve_request", "price_basket", "apply_discounts"} <= set(names()), compose_cli("logs").stdout[-4000:]
    assert compose_cli("down", "-v").returncode == 0


@pytest.mark.parametrize("name", ["agent.alloy", "default.alloy"])
def test_docker_configurations(name, tmp_path):
    validate((DOCKER / name).read_text(), tmp_path)


# Kubernetes

def manifests():
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    return [o for name in kustomization["resources"] for o in yaml.safe_load_all((KUBERNETES / name).read_text())]


def only(objects, kind):
    found = [o for o in objects if o["kind"] == kind]
    assert len(found) == 1, [o["kind"] for o in objects]
    return found[0]


def check_objects(objects):
    """What holds for the manifests, and for whatever the chart makes."""
    daemonset = only(objects, "DaemonSet")
    meta, template = daemonset["metadata"], daemonset["spec"]["template"]
    pod_spec = template["spec"]
    container, = pod_spec["containers"]
    assert daemonset["apiVersion"] == "apps/v1"
    assert daemonset["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert "app.kubernetes.io/version" not in daemonset["spec"]["selector"]["matchLabels"], "an upgrade would be refused"
    assert pod_spec["hostPID"] is True and "hostNetwork" not in pod_spec
    assert PINNED.search(container["image"]), container["image"]
    # The probes come from outside of the pod's loopback, and nothing else is there without a password.
    port, *others = container["ports"]
    flags = dict(a.removeprefix("--server.http.").split("=", 1) for a in container["args"] if a.startswith("--server.http.") and "=" in a)
    assert port["name"] == "probes" and flags["probe-addr"].endswith(f":{port['containerPort']}") and "127.0.0.1" not in flags["probe-addr"]
    local = flags["listen-addr"].startswith("127.0.0.1:")
    assert [p["containerPort"] for p in others] == ([] if local else [int(flags["listen-addr"].rpartition(":")[2])])
    policy = only(objects, "NetworkPolicy")
    assert policy["metadata"]["namespace"] == meta["namespace"] and policy["spec"]["policyTypes"] == ["Ingress"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    rule, = policy["spec"]["ingress"]
    assert [p["port"] for p in rule["ports"]] == [p["containerPort"] for p in container["ports"]]
    assert template["metadata"]["annotations"]["prometheus.io/port"] == str(port["containerPort"]) or flags["probe-addr"] != ":12346"
    for probe, path in (("livenessProbe", "/-/ready"), ("readinessProbe", "/-/healthy")):
        assert container[probe]["httpGet"] == {"path": path, "port": port["name"]}
    assert container["env"][0] == {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    assert container["resources"]["requests"] and container["resources"]["limits"]["memory"]
    context = container["securityContext"]
    assert context["readOnlyRootFilesystem"] and context["runAsUser"] == 0
    # The API server refuses both together.
    assert context["privileged"] is not (context.get("allowPrivilegeEscalation") is False)
    volumes = {v["name"]: v for v in pod_spec["volumes"]}
    assert {m["name"] for m in container["volumeMounts"]} == set(volumes)
    assert all(m.get("readOnly") for m in container["volumeMounts"] if "emptyDir" not in volumes[m["name"]])
    config = only(objects, "ConfigMap")
    assert config["metadata"] == {**config["metadata"], "name": volumes["config"]["configMap"]["name"], "namespace": meta["namespace"]}
    for role in (o for o in objects if o["kind"] == "ClusterRole"):
        assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
        binding = only(objects, "ClusterRoleBinding")
        assert binding["roleRef"]["name"] == role["metadata"]["name"]
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": pod_spec["serviceAccountName"], "namespace": meta["namespace"]}]
    return container


def test_manifests(tmp_path):
    objects = manifests()
    container = check_objects(objects)
    namespace = only(objects, "Namespace")
    assert {o["metadata"].get("namespace") for o in objects} == {None, namespace["metadata"]["name"]}
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert set(container["securityContext"]["capabilities"]["add"]) == CAPABILITIES
    validate(only(objects, "ConfigMap")["data"]["agent.alloy"], tmp_path)


@pytest.fixture
def node(tmp_path, shop, processes):
    """A node with one pod of the shop: (API, service account's folder, the shop's pid)."""
    reason = privileges.why_no_tool("openssl") or privileges.why_no_cgroup2() or runc.why_not()
    if reason:
        pytest.skip(reason)
    api = KubeApi(tmp_path)
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("token-1")
    (account / "ca.crt").write_text(api.ca_file.read_text())
    item = pod("market", "cart-0", "web")
    container = "ab" * 32
    uid = item["metadata"]["uid"].replace("-", "_")
    place = privileges.cgroup2_root() / "kubepods.slice" / f"kubepods-pod{uid}.slice" / f"cri-containerd-{container}.scope"
    place.mkdir(parents=True)
    item["status"]["containerStatuses"] = [container_status("web", f"containerd://{container}")]
    api.put(item)
    burning_shop = processes.start(shop, preexec_fn=lambda: (place / "cgroup.procs").write_text(str(os.getpid())))
    burning_shop.wait_for_output("open")
    yield api, account, burning_shop.pid
    burning_shop.end()
    api.stop()
    for path in (place, *list(place.parents)[:2]):
        try:
            path.rmdir()
        except OSError:
            break


@pytest.mark.bpf
def test_daemonset_as_runc_runs_it(node, rootfs, docker, standin, processes, tmp_path):
    """The five capabilities, a read-only root, no new privileges, the service account: the pod has its name, nothing else is asked for."""
    api, account, shop_pid = node
    objects = manifests()
    spec = only(objects, "DaemonSet")["spec"]["template"]["spec"]
    port, page = free_port(), free_port()
    spec["containers"][0]["args"] = [a.replace(":12346", f"127.0.0.1:{port}").replace(":12345", f":{page}") for a in spec["containers"][0]["args"]]
    config = tmp_path / "config"
    config.mkdir()
    (config / "agent.alloy").write_text(only(objects, "ConfigMap")["data"]["agent.alloy"])
    container = runc.Runc(processes, tmp_path, runc.spec(
        spec, docker.inspect("xagent")["Config"], rootfs, {"xagent": config}, account, {"spec.nodeName": "node-1"},
        {"PYROSCOPE_URL": standin.url, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(api.port)}))
    try:
        def well():
            assert container.process.running(), container.process.err
            try:
                return all(fetch(f"http://127.0.0.1:{p}/-/healthy")[0] == 200 for p in (port, page)) and api.asked("watch")
            except OSError:
                return False
        wait_until(well, 20, "the agent is well")
        wait_burned(shop_pid)
        status = Path(f"/proc/{pid_of_agent(port)}/status").read_text()
        # capability.h: DAC_READ_SEARCH 2, SYS_PTRACE 19, SYSLOG 34, PERFMON 38, BPF 39
        assert re.search(r"^CapEff:\t(\S+)$", status, re.M).group(1) == f"{1 << 2 | 1 << 19 | 1 << 34 | 1 << 38 | 1 << 39:016x}"
        assert container.stop() == 0, container.process.err
    finally:
        container.end()
    pushes = standin.pushes(service_name="market/web")
    assert {(p.labels["namespace"], p.labels["container"], p.labels["host"]) for p in pushes} == {("market", "web", "node-1")}
    assert any("apply_discounts" in frames for frames in stacks_of(pushes))
    assert set(services_with(standin.pushes(), "serve_request")) == {"market/web"}
    assert {r.path for r in api.requests} == {"/api/v1/pods"}


def pid_of_agent(port):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if line.startswith(b"xagent\0") and f":{port}\0".encode() in line:
            return path.parent.name
    raise AssertionError("the agent does not run")


# Helm

@pytest.fixture(scope="module")
def renderer(tmp_path_factory):
    reason = helm.why_not()
    if reason:
        pytest.skip(reason)
    return helm.build(tmp_path_factory.mktemp("helm"))


def without_helms_own(item):
    """Without the labels that only Helm sets."""
    for labels in (item["metadata"].get("labels", {}),):
        labels.pop("app.kubernetes.io/managed-by", None)
        labels.pop("helm.sh/chart", None)
        if item["kind"] != "DaemonSet":
            labels.pop("app.kubernetes.io/version", None)
    return item


def test_chart_makes_the_manifests(renderer):
    """One and the same thing by both ways."""
    ours = {o["kind"]: o for o in manifests() if o["kind"] != "Namespace"}
    charts = {o["kind"]: without_helms_own(o) for o in helm.Rendered(renderer).objects}
    assert set(ours) == set(charts)
    for kind, item in ours.items():
        assert charts[kind] == item, kind


VALUES = {
    "cloud": {"pyroscope": {"url": "https://profiles.example", "existingSecret": "cloud", "tenant": "team",
                            "externalLabels": {"cluster": "prod"}},
              "ebpf": {"sampleRate": 19, "collectInterval": "60s"}, "image": {"repository": "registry.example/xagent", "tag": "0.1.0-1"},
              "imagePullSecrets": [{"name": "registry"}], "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}]},
    "privileged": {"privileged": True, "nameOverride": "profiler", "serviceAccount": {"create": False, "name": "ours"},
                   "rbac": {"create": False}, "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}},
    "scheduling": {"config": 'http {\n\tauth {\n\t\tbasic {\n\t\t\tusername = "u"\n\t\t\tpassword = sys.env("P")\n\t\t}\n\t}\n}\n',
                   "port": 9000, "listenAddress": "[::]", "probePort": 9001, "tolerations": [], "networkPolicy": {"from": [{"podSelector": {}}]},
                   "nodeSelector": {"pool": "a"}, "priorityClassName": "system-node-critical", "updateStrategy": {"type": "OnDelete"},
                   "podLabels": {"team": "a"},
                   "appArmorProfile": "", "seccompProfile": "RuntimeDefault", "extraArgs": ["--server.http.disable-support-bundle"],
                   "affinity": {"nodeAffinity": {}}, "serviceAccount": {"annotations": {"a": "b"}}},
}


@pytest.mark.parametrize("name", VALUES)
def test_chart_with_values(renderer, name, tmp_path):
    assert helm.problems(VALUES[name]) == []
    release = helm.Rendered(renderer, VALUES[name], release="r", namespace="monitoring")
    container = check_objects(release.objects)
    pod_spec = release.only("DaemonSet")["spec"]["template"]["spec"]
    text = release.only("ConfigMap")["data"]["agent.alloy"]
    validate(text, tmp_path, laid_out=False)
    if name == "cloud":
        assert container["image"] == "registry.example/xagent:0.1.0-1" and pod_spec["imagePullSecrets"] == [{"name": "registry"}]
        assert [v["name"] for v in container["env"]][2:] == ["PYROSCOPE_USERNAME", "PYROSCOPE_PASSWORD", "HTTPS_PROXY"]
        assert '"cluster" = "prod"' in text and 'headers = {"X-Scope-OrgID" = "team"}' in text and "basic_auth {" in text
        assert "sample_rate      = 19\n" in text and '"60s"' in text
        assert "https://profiles.example" in release.notes
    elif name == "privileged":
        assert container["securityContext"] == {"runAsUser": 0, "runAsGroup": 0, "readOnlyRootFilesystem": True, "privileged": True}
        assert {o["kind"] for o in release.objects} == {"ConfigMap", "DaemonSet", "NetworkPolicy"} and pod_spec["serviceAccountName"] == "ours"
        assert release.only("DaemonSet")["metadata"]["name"] == "profiler"
    else:
        context = container["securityContext"]
        assert text == VALUES[name]["config"] and [p["containerPort"] for p in container["ports"]] == [9001, 9000] and "tolerations" not in pod_spec
        assert context["seccompProfile"] == {"type": "RuntimeDefault"} and "appArmorProfile" not in context
        assert "--server.http.listen-addr=[::]:9000" in container["args"] and "--server.http.probe-addr=:9001" in container["args"]
        assert release.only("NetworkPolicy")["spec"]["ingress"][0]["from"] == [{"podSelector": {}}]
        assert container["args"][-2:] == [*VALUES[name]["extraArgs"], "/etc/xagent"]
        assert pod_spec["nodeSelector"] == {"kubernetes.io/os": "linux", "pool": "a"}


def test_chart_opens_nothing_without_a_password(renderer):
    for values in ({"listenAddress": "0.0.0.0"}, {"listenAddress": "", "config": 'logging {\n}\n'}):
        with pytest.raises(Exception, match="http { auth { basic"):
            helm.Rendered(renderer, values)
    assert "NetworkPolicy" not in {o["kind"] for o in helm.Rendered(renderer, {"networkPolicy": {"enabled": False}}).objects}


@pytest.mark.parametrize("values", [
    {"sampleRate": 1}, {"pyroscope": {"url": "pyroscope:4040"}}, {"port": "12345"}, {"capabilities": ["CAP_BPF"]}, {"privileged": "yes"},
    {"ebpf": {"collectInterval": "15"}}, {"pyroscope": {"externalLabels": {"a-b": "c"}}}])
def test_schema_refuses(values):
    assert len(helm.problems(values)) == 1, helm.problems(values)


def test_schema_and_values_agree():
    schema = json.loads((helm.CHART / "values.schema.json").read_text())
    assert helm.problems({}) == [] and set(schema["properties"]) - {"global"} == set(helm.default_values())
