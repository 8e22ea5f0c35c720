# SPDX-License-Identifier: Apache-2.0
"""discovery.kubernetes against a stand-in of the API: who is found, whose ticks are whose, and what happens when things go wrong."""
import json
import os
import secrets
import time
from pathlib import Path

import pytest

from harness import kube_api, privileges
from harness.agent import AUTH_IN_FORMAT, Raw, config
from harness.kube_api import KubeApi, Refusal
from harness.kube_objects import container_status, named, pod
from harness.processes import wait_until
from harness.standin import services_with

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
NODE = "node-1"

DISCOVERY = AUTH_IN_FORMAT + """
discovery.kubernetes "pods" {{
	role = "pod"
{body}
}}
"""
ON_NODE = f'\tselectors {{\n\t\trole = "pod"\n\t\tfield = "spec.nodeName={NODE}"\n\t}}\n'
RELABEL = """
discovery.relabel "pods" {
	targets = discovery.kubernetes.pods.targets
	rule {
		source_labels = ["__meta_kubernetes_pod_label_team"]
		target_label  = "team"
	}
	rule {
		source_labels = ["__meta_kubernetes_pod_name"]
		target_label  = "pod"
	}
}
"""
RELABELLED = Raw("discovery.relabel.pods.output")

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: test
contexts:
- name: test
  context: {{cluster: test, user: agent}}
clusters:
- name: test
  cluster:
    server: {server}
    certificate-authority: ca.crt
users:
- name: agent
  user:
    tokenFile: token
"""


@pytest.fixture
def api(tmp_path):
    reason = privileges.why_no_tool("openssl")
    if reason:
        pytest.skip(reason)
    server = KubeApi(tmp_path)
    (tmp_path / "token").write_text("token-1\n")
    (tmp_path / "kubeconfig").write_text(KUBECONFIG.format(server=server.url))
    yield server
    server.stop()


def by_kubeconfig(api, more=ON_NODE):
    return DISCOVERY.format(body=f'\tkubeconfig_file = "{api.directory}/kubeconfig"\n{more}')


def component(agent):
    return json.loads(agent.get_authorized("/api/v0/web/components/discovery.kubernetes.pods")[1])


def _plain(value):
    """A value as the web API writes it."""
    if value["type"] == "array":
        return [_plain(v) for v in value["value"]]
    if value["type"] == "object":
        return {member["key"]: _plain(member["value"]) for member in value["value"]}
    return value["value"]


def targets(agent):
    return _plain(component(agent)["exports"][0]["value"])


def names(agent):
    return [t["__meta_kubernetes_pod_name"] for t in targets(agent)]


def wait_names(agent, *expected, seconds=10):
    wait_until(lambda: names(agent) == list(expected), seconds, f"the pods are {expected}")


def wait_health(agent, state, text, seconds=10):
    def good():
        health = component(agent)["health"]
        return health["state"] == state and text in health["message"]
    wait_until(good, seconds, f"health is {state}: {text}")


class Container:
    """A cgroup as a node's container runtime makes it for a pod's container."""

    def __init__(self, uid):
        self.id = secrets.token_hex(32)
        self.root = privileges.cgroup2_root()
        slice_name = f"kubepods-burstable-pod{uid.replace('-', '_')}.slice"
        self.path = self.root / "kubepods.slice" / "kubepods-burstable.slice" / slice_name / f"cri-containerd-{self.id}.scope"
        self.path.mkdir(parents=True)

    def enter(self):
        """For a child before its exec."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for path in (self.path, *self.path.parents):
            if path == self.root:
                return
            try:
                path.rmdir()
            except OSError:
                return  # another's is still in it


@pytest.fixture
def place_pod(processes, programs):
    """A pod with a process that burns in its container, or will: (the pod, a function that starts it)."""
    reason = privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    made, started = [], []

    def make(namespace, name, container, **options):
        item = pod(namespace, name, container, **options)
        place = Container(item["metadata"]["uid"])
        made.append(place)
        item["status"]["containerStatuses"] = [container_status(container, "containerd://" + place.id)]

        def start(seconds=50):
            started.append(processes.start(programs["chain"], seconds, preexec_fn=place.enter))
        return item, start
    yield make
    for process in started:
        process.end()
    for place in made:
        place.remove()


# Whose ticks are whose

@pytest.mark.bpf
@pytest.mark.beside
def test_processes_have_the_labels_of_their_pods(start_agent, standin, api, place_pod):
    cart, start_cart = place_pod("shop", "cart-0", "web", labels={"team": "blue"})
    other, start_other = place_pod("shop", "elsewhere-0", "web", node="node-2")
    start_cart()
    start_other()
    api.put(cart)
    api.put(other)
    agent = start_agent(config(standin.url, interval="1s", rate=199, targets=RELABELLED, targets_only=True,
                               before=by_kubeconfig(api) + RELABEL)).wait_ready()
    wait_until(lambda: standin.samples(service_name="ebpf/shop/web") >= 50, 15, "the pod is profiled")

    # One that comes while the agent runs: the API knows of it only after it has begun to run.
    late, start_late = place_pod("pay", "late-0", "worker", annotations={"pyroscope.io/service_name": "payments"})
    start_late()
    time.sleep(0.2)
    api.put(late)
    wait_until(lambda: standin.samples(service_name="payments") >= 150, 15, "the late pod is profiled")

    # One that the API forgets is no target any more.
    api.delete("cart-0", "shop")
    wait_names(agent, "late-0")
    before = len(standin.pushes(service_name="payments"))
    wait_until(lambda: len(standin.pushes(service_name="payments")) >= before + 2, 15, "two intervals are over")
    left = len(standin.pushes(service_name="ebpf/shop/web"))
    wait_until(lambda: len(standin.pushes(service_name="payments")) >= before + 4, 15, "and two more")
    assert len(standin.pushes(service_name="ebpf/shop/web")) == left
    assert agent.stop() == 0
    pushes = standin.pushes()
    assert set(services_with(pushes, "spin")) == {"ebpf/shop/web", "payments"}
    assert all(p.labels["team"] == "blue" and p.labels["pod"] == "cart-0" for p in standin.pushes(service_name="ebpf/shop/web"))
    assert all(p.labels["pod"] == "late-0" for p in standin.pushes(service_name="payments"))


@pytest.mark.bpf
def test_a_new_pod_has_its_labels_with_its_first_profile(start_agent, standin, api, place_pod):
    """Everything is profiled, so what came before the pod was known would be seen under another name."""
    agent = start_agent(config(standin.url, interval="1s", rate=499, targets=RELABELLED, targets_only=False,
                               before=by_kubeconfig(api) + RELABEL)).wait_ready()
    wait_until(lambda: api.asked("watch"), 10, "pods are watched")
    late, start = place_pod("pay", "late-0", "worker")
    start(3)
    time.sleep(0.2)
    api.put(late)
    wait_until(lambda: standin.samples(service_name="ebpf/pay/worker") >= 300, 15, "the pod is profiled")
    assert agent.stop() == 0
    assert set(services_with(standin.pushes(), "alpha")) == {"ebpf/pay/worker"}


# What is asked, and what is found

@pytest.mark.agent
def test_lists_in_pages_and_asks_for_what_is_wanted(start_agent, api):
    for i in range(600):
        api.put(pod("many", f"pod-{i:03}", node=NODE if i < 550 else "node-2"))
    agent = start_agent(by_kubeconfig(api)).wait_ready()
    wait_until(lambda: len(targets(agent)) == 550, 10, "all pages are in")
    first, second = api.asked("list")
    assert first.query == {"limit": "500", "fieldSelector": f"spec.nodeName={NODE}", "resourceVersion": "0"}
    assert "continue" in second.query and "resourceVersion" not in second.query
    watch = wait_until(lambda: api.asked("watch"), 10, "pods are watched")[0]
    assert watch.query["resourceVersion"] == "700" and watch.query["allowWatchBookmarks"] == "true"
    assert 300 <= int(watch.query["timeoutSeconds"]) <= 600


@pytest.mark.agent
def test_namespaces_selectors_and_metadata(start_agent, api):
    api.put(named("Node", NODE, {"zone": "east"}), "nodes")
    api.put(named("Namespace", "a", {"owner": "me"}), "namespaces")
    for namespace in "abc":
        api.put(pod(namespace, f"{namespace}-0", labels={"app": "x"}))
        api.put(pod(namespace, f"{namespace}-1", labels={"app": "y"}))
    agent = start_agent(by_kubeconfig(api, """
	namespaces {
		names = ["b", "a"]
	}
	selectors {
		role = "pod"
		label = "app=x"
	}
	attach_metadata {
		node = true
		namespace = true
	}
""")).wait_ready()
    wait_names(agent, "a-0", "b-0")
    a, b = targets(agent)
    assert a["__meta_kubernetes_node_label_zone"] == b["__meta_kubernetes_node_label_zone"] == "east"
    assert a["__meta_kubernetes_namespace_label_owner"] == "me" and "__meta_kubernetes_namespace_label_owner" not in b
    api.put(named("Node", NODE, {"zone": "west"}), "nodes")
    wait_until(lambda: [t["__meta_kubernetes_node_label_zone"] for t in targets(agent)] == ["west", "west"], 10, "both are in the west")


# In a pod of the cluster

@pytest.fixture
def service_account(api):
    if os.geteuid() != 0:
        pytest.skip("the service account's folder needs root")
    if SERVICE_ACCOUNT.exists():
        pytest.skip(f"this is a pod: {SERVICE_ACCOUNT} exists")
    made = [p for p in (SERVICE_ACCOUNT, *SERVICE_ACCOUNT.parents) if not p.exists()]
    SERVICE_ACCOUNT.mkdir(parents=True)
    for name, text in ("token", "token-1"), ("namespace", "own"), ("ca.crt", api.ca_file.read_text()):
        (SERVICE_ACCOUNT / name).write_text(text)
    yield SERVICE_ACCOUNT
    for path in SERVICE_ACCOUNT.iterdir():
        path.unlink()
    for path in made:
        path.rmdir()


@pytest.mark.agent
def test_in_cluster_with_a_token_that_rotates(start_agent, api, service_account):
    env = {**os.environ, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(api.port)}
    api.put(pod("own", "a"))
    api.put(pod("other", "b"))
    agent = start_agent(DISCOVERY.format(body="\tnamespaces {\n\t\town_namespace = true\n\t}"), env=env).wait_ready()
    wait_names(agent, "a")
    assert api.asked("list")[0].path == "/api/v1/namespaces/own/pods"

    api.tokens = {"token-2"}
    api.end_watches()
    wait_health(agent, "unhealthy", "does not accept who we are (401)")
    wait_until(lambda: len([r for r in api.requests if r.token == "token-1"]) >= 4, 10, "it tries again")
    assert names(agent) == ["a"]
    api.put(pod("own", "c"))
    (service_account / "token").write_text("token-2")
    wait_names(agent, "a", "c")
    wait_health(agent, "healthy", "2 pods, 2 targets")
    assert len([line for line in agent.log_lines(level="warn") if "401" in line.get("reason", "")]) == 1


# What goes wrong

@pytest.mark.agent
def test_versions_that_are_too_old(start_agent, api):
    api.put(pod("a", "first"))
    agent = start_agent(by_kubeconfig(api)).wait_ready()
    wait_names(agent, "first")
    wait_until(lambda: api.asked("watch"), 10, "pods are watched")

    # As an event: what came and went meanwhile is found by another list.
    api.watch_errors = [kube_api.gone("too old resource version").body]
    api.put(pod("a", "second"))
    wait_names(agent, "first", "second")
    wait_until(lambda: len(api.asked("list")) == 2, 10, "it lists again")
    assert "resourceVersion" not in api.asked("list")[1].query

    # As a status.
    wait_until(lambda: len(api.asked("watch")) == 2, 10, "it watches again")
    with api.lock:
        api.delete("first", "a")
        api.compact()
        api.end_watches()
    wait_names(agent, "second")
    assert component(agent)["health"]["state"] == "healthy"


@pytest.mark.agent
def test_connections_that_end(start_agent, api):
    api.put(pod("a", "first"))
    agent = start_agent(by_kubeconfig(api)).wait_ready()
    wait_until(lambda: api.asked("watch"), 10, "pods are watched")

    # In order, and in the middle of an event: on from where it was.
    for n, cut in enumerate((False, True), 2):
        version = str(api.version)
        api.end_watches(cut=cut)
        wait_until(lambda n=n: len(api.asked("watch")) == n, 10, "it watches again")
        assert api.asked("watch")[-1].query["resourceVersion"] == version
        api.put(pod("a", f"pod-{n}"))
        wait_names(agent, "first", *(f"pod-{i}" for i in range(2, n + 1)))
    assert len(api.asked("list")) == 1 and not agent.log_lines(level="warn")

    # The server is away, and comes back with other pods.
    api.stop()
    wait_health(agent, "unhealthy", "Connection refused; the last 3 pods stay")
    assert len(targets(agent)) == 3
    api.delete("first", "a")
    api.start()
    wait_names(agent, "pod-2", "pod-3", seconds=15)
    wait_health(agent, "healthy", "2 pods")


@pytest.mark.agent
def test_another_ca(start_agent, api):
    """The file is read again for each connection."""
    api.put(pod("a", "first"))
    agent = start_agent(by_kubeconfig(api)).wait_ready()
    wait_names(agent, "first")
    wait_until(lambda: api.asked("watch"), 10, "pods are watched")
    api.rotate_ca()
    api.end_watches(cut=True)
    api.put(pod("a", "second"))
    wait_names(agent, "first", "second")
    assert not agent.log_lines(level="warn")


@pytest.mark.agent
def test_reload(start_agent, api):
    """Other arguments, and those that lead nowhere; meanwhile the targets stay."""
    api.put(pod("a", "first"))
    api.put(pod("a", "second", node="node-2"))
    agent = start_agent(by_kubeconfig(api)).wait_ready()
    wait_names(agent, "first")

    agent.config_path.write_text(by_kubeconfig(api).replace("/kubeconfig", "/nowhere"))
    status, body = agent.get("/-/reload")
    assert status == 400 and "nowhere: No such file or directory" in body
    assert names(agent) == ["first"]

    api.refuse = [Refusal(503, "ServiceUnavailable", "not yet", Retry_After="1")]
    agent.config_path.write_text(by_kubeconfig(api, more=""))
    assert agent.get("/-/reload")[0] == 200
    assert names(agent) == ["first"]
    wait_names(agent, "first", "second")
    debug = {member["name"]: member["value"]["value"] for member in component(agent)["debugInfo"]}
    assert debug["state"] == "watching" and debug["pods"] == debug["targets"] == 2 and debug["lists"] == 2
    assert debug["resource_version"] == str(api.version) and "not yet" in debug["last_error"] and debug["last_event_age_s"] < 60


@pytest.mark.agent
def test_refusals_and_slow_answers(start_agent, api):
    api.put(pod("a", "first"))
    api.forbidden = {("list", "pods")}
    agent = start_agent(by_kubeconfig(api)).wait_ready()
    wait_health(agent, "unhealthy", 'not allowed to list pods of the whole cluster (403); its account needs a ClusterRole with: '
                'apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"]')
    assert targets(agent) == []
    api.page_bytes_a_second = 2000
    api.refuse = [Refusal(429, "TooManyRequests", "later", Retry_After="1")]
    api.forbidden = set()
    wait_names(agent, "first", seconds=15)


@pytest.mark.agent
def test_no_such_pods(start_agent, api):
    """A variable that is not set is the usual reason."""
    api.put(pod("a", "first"))
    agent = start_agent(by_kubeconfig(api, ON_NODE.replace(NODE, ""))).wait_ready()
    wait_health(agent, "healthy", '0 pods, 0 targets; field selector "spec.nodeName="; the selector names no node')
    said = wait_until(lambda: agent.log_lines(level="warn", msg="Kubernetes has no such pods"), 5, "it says so")
    assert "is the environment variable set" in said[0]["advice"]


@pytest.mark.agent
def test_nothing_tells_where_the_server_is(start_agent):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_")}
    agent = start_agent(DISCOVERY.format(body=""), env=env)
    assert agent.process.wait(10) == 1
    assert "KUBERNETES_SERVICE_HOST is not set" in agent.log
