# SPDX-License-Identifier: Apache-2.0
"""Objects of the Kubernetes API as a server hands them out, and the selectors that choose among them."""
import uuid


def container_status(name, container_id):
    return {"name": name, "containerID": container_id, "image": "example/image:1", "ready": True, "state": {"running": {}}}


def pod(namespace, name, container="app", container_id="", *, node="node-1", ip="10.1.2.3", ports=(), labels=None, annotations=None,
        phase="Running"):
    """A pod with one container; container_id with its scheme."""
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "uid": str(uuid.uuid4()), "labels": labels or {},
                     "annotations": annotations or {}, "managedFields": [{"manager": "kubelet", "operation": "Update"}]},
        "spec": {"nodeName": node, "containers": [{"name": container, "image": "example/image:1", "ports": list(ports)}]},
        "status": {"phase": phase, "podIP": ip, "hostIP": "192.168.0.1", "conditions": [{"type": "Ready", "status": "True"}],
                   "containerStatuses": [container_status(container, container_id)] if container_id else []},
    }


def named(kind, name, labels=None, annotations=None):
    """A node or a namespace."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "uid": str(uuid.uuid4()), "labels": labels or {},
                                                          "annotations": annotations or {}}, "status": {}}


def _field(item, path):
    for part in path.split("."):
        item = item.get(part, {}) if isinstance(item, dict) else {}
    return item if isinstance(item, str) else ""


def _term_holds(term, value_of):
    path, _, value = term.partition("!=" if "!=" in term else "=")
    value = value.lstrip("=")
    return (value_of(path.strip()) == value.strip()) != ("!=" in term)


def matches(item, fields, labels):
    """Whether both selectors choose the object; of the label selectors only equality is known."""
    own = item["metadata"].get("labels", {})
    return (all(_term_holds(t, lambda p: _field(item, p)) for t in fields.split(",") if t) and
            all(_term_holds(t, lambda p: own.get(p, "")) for t in labels.split(",") if t))
