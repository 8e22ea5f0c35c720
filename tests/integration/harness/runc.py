# SPDX-License-Identifier: Apache-2.0
"""A container of a pod's spec, as a kubelet would have runc start it: capabilities, mounts and environment, in the host's pid namespace."""
import json
import os
import shutil
import signal

from . import privileges

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def why_not():
    if os.geteuid() != 0:
        return "runc needs root"
    return privileges.why_no_tool("runc")


def _bind(source, destination, *options):
    return {"destination": destination, "source": str(source), "type": "bind", "options": ["rbind", *options]}


def _mounts(pod, container, sources, service_account):
    """Volumes by the pod's own list; `sources` are folders that stand for its ConfigMaps."""
    volumes = {v["name"]: v for v in pod["volumes"]}
    yield {"destination": "/proc", "type": "proc", "source": "proc"}
    yield {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}
    yield _bind("/sys", "/sys", "ro")
    yield _bind(service_account, SERVICE_ACCOUNT, "ro")
    for mount in container["volumeMounts"]:
        volume, path = volumes[mount["name"]], mount["mountPath"]
        mode = "ro" if mount.get("readOnly") else "rw"
        if "configMap" in volume:
            yield _bind(sources[volume["configMap"]["name"]], path, mode)
        elif "hostPath" in volume:
            yield _bind(volume["hostPath"]["path"], path, mode)
        else:
            assert "emptyDir" in volume, volume
            yield {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]}


def _variables(container, fields):
    for variable in container["env"]:
        value = variable.get("value") or fields[variable["valueFrom"]["fieldRef"]["fieldPath"]]
        yield f"{variable['name']}={value}"


def spec(pod, image, rootfs, sources, service_account, fields, more_env):
    """config.json. Of the namespaces it has its own mounts only: the network is the host's, so that the stand-ins are in reach."""
    container, = pod["containers"]
    context = container["securityContext"]
    assert pod["hostPID"] and context["capabilities"]["drop"] == ["ALL"]
    kept = [f"CAP_{name}" for name in context["capabilities"]["add"]]
    environment = dict(v.split("=", 1) for v in [*image["Env"], *_variables(container, fields)])
    environment.update(more_env)
    return {
        "ociVersion": "1.0.2",
        "root": {"path": str(rootfs), "readonly": context["readOnlyRootFilesystem"]},
        "mounts": list(_mounts(pod, container, sources, service_account)),
        "process": {
            "args": [*image["Entrypoint"], *container["args"]], "cwd": image["WorkingDir"],
            "env": [f"{name}={value}" for name, value in environment.items()],
            "user": {"uid": context["runAsUser"], "gid": context["runAsGroup"]},
            "noNewPrivileges": not context["allowPrivilegeEscalation"],
            "capabilities": {kind: kept for kind in ("bounding", "effective", "permitted")},
        },
        "linux": {"namespaces": [{"type": "mount"}], "cgroupsPath": f"/xagent-test-{os.getpid()}"},
    }


class Runc:
    """A running container; its state is in a folder of its own."""

    def __init__(self, processes, directory, config):
        bundle = directory / "bundle"
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(config))
        self.processes, self.root, self.name = processes, directory / "runc", f"x{os.getpid()}"
        self.process = processes.start("runc", "--root", self.root, "run", "--bundle", bundle, self.name)

    def stop(self):
        """SIGTERM; runc passes it on and ends as the container does."""
        self.process.send(signal.SIGTERM)
        return self.process.wait(20)

    def end(self):
        self.processes.run("runc", "--root", self.root, "delete", "--force", self.name)
        shutil.rmtree(self.root, ignore_errors=True)
