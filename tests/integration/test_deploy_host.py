# SPDX-License-Identifier: Apache-2.0
"""What is installed on a host: the systemd unit's rights are enough and no more, installation and package can be undone and repeated,
manual pages and completions say what the program says."""
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from harness import dwarf, paths, privileges
from harness.agent import config
from harness.processes import wait_until
from harness.schemas import Schemas
from harness.standin import services_with

DEPLOY = paths.TOP / "deploy"
UNIT = DEPLOY / "systemd" / "xagent.service"
CONFIG = DEPLOY / "systemd" / "agent.alloy"
PAGE = DEPLOY / "man" / "xagent.1"
ALLOY_PAGE = DEPLOY / "man" / "xagent.alloy.5"
COMPLETIONS = DEPLOY / "completions"

# deploy/README.md: what it needs of root's rights
README_CAPABILITIES = {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_SYSLOG"}
# linux/capability.h
CAPABILITY_BITS = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19, "CAP_SYSLOG": 34, "CAP_PERFMON": 38, "CAP_BPF": 39}
AGENT_UID, OTHER_UID = 65534, 61234

COMMANDS = [("run",), ("profile",), ("top",), ("validate",), ("fmt",), ("convert",)]
INSPECT = [("inspect", what) for what in ("rows", "symbols", "stack", "process", "eval")]


def need(*tools):
    reason = privileges.why_no_tool(*tools)
    if reason:
        pytest.skip(reason)


def need_root():
    if os.geteuid() != 0:
        pytest.skip("needs root")


def output(*argv, **options):
    run = subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False, timeout=30, **options)
    assert run.returncode == 0, f"{argv}: {run.returncode}\n{run.stdout}{run.stderr}"
    return run.stdout


# ---- the unit ---------------------------------------------------------------------------------------------------------------------

def unit_settings():
    """key → its values, in the order of the file."""
    settings = {}
    for line in UNIT.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            settings.setdefault(key, []).append(value)
    return settings


@pytest.fixture(scope="module")
def unit():
    return unit_settings()


def test_unit_names_the_rights_of_the_readme(unit):
    assert set(unit["CapabilityBoundingSet"][0].split()) == README_CAPABILITIES
    assert unit["AmbientCapabilities"] == unit["CapabilityBoundingSet"]
    text = (DEPLOY / "README.md").read_text()
    named = re.search(r"It needs root, or ([^.]*)\.", text)[1]
    assert set(re.findall(r"CAP_\w+", named)) == README_CAPABILITIES, named
    assert set(re.findall(r"CAP_\w+", " ".join(re.findall(r"^\| (CAP_[^|]*)\|", text, re.M)))) == README_CAPABILITIES


def test_unit_hides_nothing_that_is_needed(unit):
    """Each of these takes away names of processes or of kernel functions, silently."""
    for key in ("ProtectKernelTunables", "ProtectKernelLogs", "PrivateUsers", "PrivateNetwork"):
        assert unit.get(key, ["no"]) == ["no"], key
    assert unit["ProtectProc"] == ["default"] and unit["ProcSubset"] == ["all"]


def test_unit_is_what_systemd_understands(tmp_path):
    need("systemd-analyze")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/usr/bin/xagent", "/bin/true"))
    run = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    # Of 100; more is worse. A service without any protection has 96.
    output("systemd-analyze", "security", "--offline=yes", "--threshold=35", UNIT)


def syscalls_of(unit):
    """The names that SystemCallFilter= leaves, its sets expanded by systemd itself."""
    def expand(words):
        names = set()
        for word in words:
            if not word.startswith("@"):
                names.add(word)
                continue
            lines = output("systemd-analyze", "syscall-filter", word).splitlines()[1:]
            names |= expand(l.strip() for l in lines if l.strip() and not l.strip().startswith("#"))
        return names
    allowed = set()
    for value in unit["SystemCallFilter"]:
        if value.startswith("~"):
            allowed -= expand(value[1:].split())
        else:
            allowed |= expand(value.split())
    return allowed


def why_no_filter():
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError as error:
        return str(error)
    return privileges.why_no_tool("systemd-analyze")


def filtered(unit, otherwise):
    """A program that starts another one with the unit's system calls; nothing where that cannot be done. What becomes of another call:
    "refuse", as in the unit, "end"."""
    reason = why_no_filter()
    if reason:
        warnings.warn(f"system calls are not filtered: {reason}")
        return []
    return [sys.executable, "-B", paths.TESTS / "integration" / "harness" / "confine.py", otherwise, ",".join(sorted(syscalls_of(unit))),
            ",".join(unit["RestrictAddressFamilies"][0].split())]


def bounds(unit, otherwise="refuse"):
    """A program that starts another one as a user, with capabilities and system calls as the unit has them."""
    caps = ",".join(["-all"] + ["+" + c.removeprefix("CAP_").lower() for c in unit["CapabilityBoundingSet"][0].split()])
    return ["setpriv", f"--reuid={AGENT_UID}", f"--regid={AGENT_UID}", "--clear-groups", f"--bounding-set={caps}", f"--inh-caps={caps}",
            f"--ambient-caps={caps}", "--no-new-privs", *filtered(unit, otherwise)]


# A process of somebody else, in a mount namespace of its own as a container has, from a file that nobody but it may read or even see.
ELSEWHERE = """
mount -t tmpfs -o mode=0700,uid="$2",gid="$2" tmpfs "$1" &&
cp "$0" "$1/secretive" && chown "$2:$2" "$1/secretive" && chmod 0500 "$1/secretive" &&
exec setpriv --reuid="$2" --regid="$2" --clear-groups "$1/secretive" 30
"""


@pytest.fixture
def others_process(programs, processes):
    need("unshare", "setpriv")
    need_root()
    with tempfile.TemporaryDirectory(prefix="xagent-deploy-") as folder:
        os.chmod(folder, 0o755)
        process = processes.start("unshare", "--mount", "sh", "-c", ELSEWHERE, programs["chain"], folder, OTHER_UID)
        process.wait_for_output("main")
        yield process
        process.end()


def status_of(pid):
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)


def user_seconds(pid):
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(after_name[11]) / os.sysconf("SC_CLK_TCK")


@pytest.mark.bpf
def test_profiles_within_the_units_bounds(unit, standin, start_agent, others_process, tmp_path):
    """The installed configuration, readable by root alone, and a process of somebody else."""
    (tmp_path / "agent.alloy").touch(mode=0o600)
    agent = start_agent(CONFIG.read_text(), prefix=bounds(unit), env=os.environ | {"PYROSCOPE_URL": standin.url})
    agent.wait_ready()

    status = status_of(agent.process.pid)
    mask = sum(1 << CAPABILITY_BITS[name] for name in unit["CapabilityBoundingSet"][0].split())
    for which in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
        assert int(status[which], 16) == mask, (which, status[which])
    assert status["NoNewPrivs"] == "1" and (status["Seccomp"] == "2" or why_no_filter()), status
    assert set(status["Uid"].split()) == {str(AGENT_UID)}

    agent.process.send(signal.SIGHUP)
    wait_until(lambda: "config reloaded" in agent.log, 10, "ExecReload is heard")
    before = user_seconds(others_process.pid)
    wait_until(lambda: user_seconds(others_process.pid) > before + 1, 20, "a second of its time")
    status, health = agent.get("/-/healthy")
    assert status == 200 and "pyroscope.ebpf.host: healthy: profiling\n" in health, health
    assert agent.stop() == 0, agent.log
    found = services_with(standin.pushes(), "main", "alpha", "beta", "gamma", "spin")
    assert found.get("secretive", 0) > 50, found  # 97 a second
    missing = [line for line in agent.log_lines(level="warn") if "missing" in line["msg"] or "hidden" in line["msg"]]
    assert not missing and "Operation not permitted" not in agent.log and "Permission denied" not in agent.log, agent.log


def as_a_pod():
    """A program that starts another one as the DaemonSet does: root with few capabilities, none to change users or the bounding set."""
    text = (DEPLOY / "kubernetes" / "daemonset.yaml").read_text()
    names = re.search(r"^ +add: \[(.*)\]$", text, re.M)[1].split(", ")
    assert not {"SETUID", "SETGID", "SETPCAP", "SYS_ADMIN"} & set(names) and re.search(r"^ +allowPrivilegeEscalation: false$", text, re.M)
    caps = ",".join(["-all"] + ["+" + name.lower() for name in names])
    return ["setpriv", f"--bounding-set={caps}", "--inh-caps=-all", "--no-new-privs"]


@pytest.mark.bpf
@pytest.mark.parametrize("where", ["unit", "daemonset"])
def test_lines_are_read_without_rights_there_too(unit, standin, start_agent, processes, programs, where):
    """Who may not change users keeps the agent's, and the bounding set: the readers of DWARF have no right by that. And nothing that is done
    for lines is refused by the unit: any such call would be the end of the process that makes it."""
    need("setpriv")
    need_root()
    program = processes.start(programs["inlined"], 60)
    prefix = bounds(unit, "end") if where == "unit" else as_a_pod()
    text = config(standin.url, interval="1s", rate=499, lines=True, inlines=True, targets_only=True,
                  targets=[{"__process_pid__": str(program.pid), "service_name": "watched"}])
    agent = start_agent(text, prefix=prefix).wait_ready()
    own = status_of(agent.process.pid)
    for pid in dwarf.wait_reader(agent, program):
        s = status_of(pid)
        assert {which: int(s[f"Cap{which}"], 16) for which in ("Inh", "Prm", "Eff", "Amb")} == {"Inh": 0, "Prm": 0, "Eff": 0, "Amb": 0}, s
        assert (s["NoNewPrivs"], s["Seccomp"], s["Name"]) == ("1", "2", "xagent-dwarf"), s
        # What is left, and why that gives it nothing: agent/dwarf/README.md.
        assert s["CapBnd"] == own["CapBnd"] and s["Uid"] == own["Uid"]
        assert int(s["Seccomp_filters"]) > int(own["Seccomp_filters"]), s
    agent.wait_metric(lambda m: m.value("pyroscope_ebpf_profiling_sessions_total") >= 4, 30, "intervals")
    assert dwarf.counters(agent) == {name: 0 for name in dwarf.COUNTERS}
    assert agent.stop() == 0, agent.log
    found = dwarf.leaves(standin, "watched")
    assert any(p[0] == "churn" and p[1].endswith("inlined.c") and p[2] > 0 for p in found), found


def test_installed_configuration_is_right():
    output(paths.XAGENT, "validate", CONFIG)
    output(paths.XAGENT, "fmt", "-t", CONFIG)


# ---- installation -------------------------------------------------------------------------------------------------------------------

KEPT = {"etc/xagent/agent.alloy", "etc/default/xagent"}


def install(root, *arguments):
    return output(DEPLOY / "install.sh", f"--binary={paths.XAGENT}", *arguments, env=os.environ | {"DESTDIR": str(root)})


def files_below(root):
    """path → (mode, contents)"""
    return {str(p.relative_to(root)): (p.stat().st_mode & 0o7777, p.read_bytes()) for p in root.rglob("*") if p.is_file()}


@pytest.mark.agent
def test_install_twice_and_undo(tmp_path):
    install(tmp_path)
    first = files_below(tmp_path)
    local = "usr/local/"
    assert {"bin/xagent", "lib/systemd/system/xagent.service", "share/man/man1/xagent.1", "share/man/man5/xagent.alloy.5",
            "share/bash-completion/completions/xagent", "share/zsh/site-functions/_xagent", "share/fish/vendor_completions.d/xagent.fish",
            "share/xagent/quickstart.alloy"} <= {f.removeprefix(local) for f in first}
    assert KEPT <= set(first) and all(first[f][0] == 0o640 for f in KEPT)
    assert b"\nExecStart=/usr/local/bin/xagent run " in first[local + "lib/systemd/system/xagent.service"][1]
    assert output(tmp_path / local / "bin/xagent", "--version").startswith("xagent ")
    # The second time changes nothing, and what a person has written stays.
    config = tmp_path / "etc/xagent/agent.alloy"
    config.write_text("// mine\n")
    assert "KEPT     /etc/xagent/agent.alloy" in install(tmp_path)
    assert files_below(tmp_path) == first | {"etc/xagent/agent.alloy": (0o640, b"// mine\n")}
    install(tmp_path, "--uninstall")
    assert set(files_below(tmp_path)) == KEPT and config.read_text() == "// mine\n"
    assert not (tmp_path / local / "share/xagent").exists()


@pytest.mark.agent
def test_install_below_another_prefix(tmp_path):
    install(tmp_path, "--prefix=/opt/x")
    unit = (tmp_path / "etc/systemd/system/xagent.service").read_text()
    assert "ExecStart=/opt/x/bin/xagent run " in unit
    install(tmp_path, "--prefix=/opt/x", "--uninstall")
    assert set(files_below(tmp_path)) == KEPT


@pytest.mark.parametrize("arguments", [["--prefix=relative"], ["--binary=/nowhere"], ["--frefix=/usr"], ["--prefix"]])
def test_install_refuses_what_it_does_not_understand(tmp_path, arguments):
    run = subprocess.run([DEPLOY / "install.sh", *arguments], env=os.environ | {"DESTDIR": str(tmp_path)}, capture_output=True, text=True,
                         check=False)
    assert run.returncode == 1 and run.stderr.strip().splitlines()[-1].startswith("install: "), run
    assert not list(tmp_path.iterdir())


# ---- the package ----------------------------------------------------------------------------------------------------------------------

def version():
    return re.search(r"^VERSION := (\S+)", (paths.TOP / "Makefile").read_text(), re.M)[1]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    need("dpkg-deb", "dpkg-shlibdeps", "strip")
    return build_package(tmp_path_factory.mktemp("deb"), "1700000000")


def build_package(folder, epoch):
    assert paths.XAGENT.exists(), f"{paths.XAGENT} is not built: run make"
    path = output(DEPLOY / "deb.sh", paths.XAGENT, version(), folder, env=os.environ | {"SOURCE_DATE_EPOCH": epoch}).strip()
    return Path(path)


def test_package_is_the_same_again(package, tmp_path):
    again = build_package(tmp_path, "1700000000")
    assert again.name == package.name and again.read_bytes() == package.read_bytes()


def test_package_contents(package):
    listing = output("dpkg-deb", "-c", package).splitlines()
    owners = {line.split()[1] for line in listing}
    files = {line.split()[-1].removeprefix(".") for line in listing if not line.startswith("d")}
    assert owners == {"root/root"}
    assert {"/usr/bin/xagent", "/usr/lib/systemd/system/xagent.service", "/etc/xagent/agent.alloy", "/etc/default/xagent",
            "/usr/share/man/man1/xagent.1.gz", "/usr/share/man/man5/xagent.alloy.5.gz", "/usr/share/bash-completion/completions/xagent",
            "/usr/share/zsh/vendor-completions/_xagent", "/usr/share/fish/vendor_completions.d/xagent.fish",
            "/usr/share/doc/xagent/copyright"} <= files
    assert all("2023-11-14" in line for line in listing), listing
    fields = output("dpkg-deb", "-f", package)
    assert f"Version: {version()}\n" in fields
    depends = re.search(r"^Depends: (.*)$", fields, re.M)[1]
    for name in ("libc6 (>= ", "libelf1", "libcurl", "libmicrohttpd", "libnghttp2-14"):
        assert name in depends, depends


def test_package_is_installed_and_purged(package, tmp_path):
    need_root()
    root = tmp_path / "root"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless", "--force-confold"]
    path = os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    output(*dpkg, "--install", package, env=path)
    assert output(root / "usr/bin/xagent", "--version").startswith(f"xagent {version()} ")
    output(root / "usr/bin/xagent", "validate", root / "etc/xagent")
    assert output(*dpkg, "--verify", "xagent", env=path) == ""
    config = root / "etc/xagent/agent.alloy"
    config.write_text("// mine\n")
    output(*dpkg, "--install", package, env=path)
    assert config.read_text() == "// mine\n"
    output(*dpkg, "--remove", "xagent", env=path)
    assert config.exists() and not (root / "usr/bin/xagent").exists()
    output(*dpkg, "--purge", "xagent", env=path)
    assert not config.exists() and not (root / "etc/default/xagent").exists()


# ---- manual pages -----------------------------------------------------------------------------------------------------------------------

def help_flags(command):
    """The flags that a command's help explains: each at the beginning of a line."""
    text = output(paths.XAGENT, *command, "--help")
    flags = {"-h", "--help"}
    for line in re.findall(r"^ +(-.*)$", text, re.M):
        flags.update(re.findall(r"(?:^|, )(--?[a-zA-Z][\w.-]*)", line.split("  ")[0]))
    return flags


def page_sections():
    """heading of .SS → its lines"""
    sections, lines = {}, None
    for line in PAGE.read_text().replace("\\-", "-").splitlines():
        if line.startswith((".SS ", ".SH ")):
            lines = sections.setdefault(line[4:], [])
        elif lines is not None:
            lines.append(line)
    return sections


def page_flags(lines):
    flags = set()
    for before, line in zip(lines, lines[1:]):
        if before == ".TP" and line.startswith("\\fB-"):
            flags.update(re.findall(r"\\fB(--?[a-zA-Z][\w.-]*)", line))
    return flags


@pytest.mark.parametrize("command", COMMANDS + INSPECT, ids=" ".join)
def test_page_has_the_flags_of_help(command):
    assert page_flags(page_sections()["xagent " + " ".join(command)]) == help_flags(command)
    output(paths.XAGENT, *command, "-h")


def test_page_has_all_commands():
    text = output(paths.XAGENT, "help")
    commands = set(re.findall(r"^  xagent ([a-z]+)\b", text.split("Examples:")[0], re.M))
    assert commands == {c[0] for c in COMMANDS} | {"inspect"}
    whats = set(re.findall(r"^  xagent inspect ([a-z]+)\b", output(paths.XAGENT, "inspect", "--help"), re.M))
    assert whats == {what for _, what in INSPECT}


@pytest.mark.parametrize("page", [PAGE, ALLOY_PAGE], ids=lambda p: p.name)
def test_pages_have_no_mistakes(page):
    need("mandoc")
    run = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stdout == "", run.stdout


def alloy_tables():
    """heading → {argument: (type, default)}; blocks are "<name>" with what follows cut off."""
    tables = {}
    heading, rows = None, False
    for line in ALLOY_PAGE.read_text().splitlines():
        if line.startswith(".SS "):
            heading = line[4:]
        elif line == ".TE":
            rows = False
        elif rows and line.count("|") == 3:
            name, kind, default, _ = line.split("|")
            kind = "any" if kind == "list" else kind
            tables.setdefault(heading, {})[name.removesuffix("...")] = (kind, "" if default == "\\-" else default)
        elif line.startswith("lb "):
            rows = True
    return tables


def test_page_has_the_arguments_of_the_program():
    """Names, types and defaults, as the tables say by which components are decoded."""
    schemas = Schemas(paths.TOP / "agent" / "component")
    tables = alloy_tables()
    page = ALLOY_PAGE.read_text()
    for heading, table in tables.items():
        schema = schemas.find(heading)
        assert table == schemas.arguments(schema), heading
        section = page.split(f".SS {heading}\n")[1].split(".SS ")[0]
        if heading != "every HTTP client":
            assert schema.takes_client == ("Also the arguments of\n" in section), heading
    for schema in schemas.all():
        for name in schema.ignored:
            assert name in page or schema.name in schemas.UNLISTED, (schema.name, name)
    known = {id(schemas.find(heading)) for heading in tables}
    assert {s.name for s in schemas.all() if id(s) not in known} == schemas.UNLISTED


def river_text(tables):
    """A configuration with every argument of the page, and one in each block that does not exist."""
    def body(heading, depth):
        tabs = "\t" * depth
        lines = [f"{tabs}no_such_argument = null"]
        for name in tables[heading]:
            if not name.startswith("<"):
                lines.append(f"{tabs}{name} = null")
                continue
            inner = name.strip("<>")
            where = "every HTTP client" if inner == "client" else f"{heading} > {inner}"
            where = where if where in tables else f"every HTTP client > {inner}"
            lines += [f"{tabs}{inner} {{", *body(where, depth + 1), tabs + "}"]
        return lines
    lines = []
    for heading in tables:
        if " > " in heading or heading in ("every HTTP client", "argument", "export"):
            continue
        label = "" if heading in ("logging", "http") else ' "x"'
        lines += [f"{heading}{label} {{", *body(heading, 1)] + (["\ttemplate { }"] if heading == "foreach" else []) + ["}"]
    return "\n".join(lines) + "\n"


def test_program_takes_the_arguments_of_the_page(tmp_path, processes):
    text = river_text(alloy_tables())
    path = tmp_path / "every.alloy"
    path.write_text(text)
    run = processes.run(paths.XAGENT, "validate", "--stability.level=experimental", path, seconds=20)
    unknown = re.findall(r'unrecognized (?:attribute|block) name "([\w.]+)"', run.err)
    assert unknown == ["no_such_argument"] * text.count("no_such_argument"), sorted(set(unknown))


# ---- completions ------------------------------------------------------------------------------------------------------------------------

def long_flags(command):
    return {flag for flag in help_flags(command) if flag.startswith("--")}


def bash_words(*words, cwd=None):
    """What bash would offer for the last word."""
    script = (f'source {COMPLETIONS / "xagent.bash"}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xagent; '
              '[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\\n" "${COMPREPLY[@]}"')
    return set(output("bash", "--norc", "-c", script, "bash", "xagent", *words, cwd=cwd).split())


@pytest.mark.parametrize("command", COMMANDS + INSPECT, ids=" ".join)
def test_bash_offers_the_flags_of_help(command):
    assert {word.removesuffix("=") for word in bash_words(*command, "--")} == long_flags(command)


@pytest.mark.parametrize("words, offered", [
    ([""], {"run", "validate", "fmt", "convert", "profile", "top", "inspect", "help", "--version", "--help"}),
    (["pro"], {"profile"}),
    (["inspect", "s"], {"symbols", "stack"}),
    (["profile", "-f", ""], {"folded", "pprof", "table", "html", "svg", "speedscope", "otlp"}),
    (["profile", "--format", "p"], {"pprof"}),
    (["run", "--stability.level", "=", "e"], {"experimental"}),
    (["run", "--stability.level", "="], {"generally-available", "public-preview", "experimental"}),
    (["profile", "--demangle", "n"], {"none"}),
    (["convert", "-f", ""], {"yaml"}),
    (["profile", "-d", ""], set()),
    (["profile", "-e", "r"], {"run_queue", "rss"}),
    (["profile", "-e", "cpu,wall,lo"], {"cpu,wall,locks"}),
    (["top", "-e", "t"], {"tcp", "tracepoint:"}),
    (["run", ""], {"a.alloy", "b.river", "folder"}),
    (["run", "--config.watch", "a"], {"a.alloy"}),
    (["convert", ""], {"old.yaml", "folder"}),
    (["profile", "-o", "old"], {"old.yaml"}),
    (["inspect", "rows", "a"], {"a.alloy"}),
    (["profile", "--", "a.al"], {"a.alloy"}),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_bash_offers(tmp_path, words, offered):
    for name in ("a.alloy", "b.river", "old.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    assert bash_words(*words, cwd=tmp_path) == offered


def test_bash_offers_processes():
    assert str(os.getpid()) in bash_words("inspect", "stack", str(os.getpid())[:-1])


def test_zsh_and_fish_know_the_same_flags():
    flags = set().union(*(long_flags(c) for c in COMMANDS + INSPECT)) | {"--version"}
    zsh = (COMPLETIONS / "_xagent").read_text()
    assert set(re.findall(r"(?<![\w-])--[a-z][\w.-]*", zsh)) == flags
    fish = (COMPLETIONS / "xagent.fish").read_text()
    assert {"--" + name for name in re.findall(r" -l ([a-z][\w.-]*)", fish)} - {"--words", "--last"} == flags


@pytest.mark.parametrize("command", COMMANDS + INSPECT, ids=" ".join)
def test_fish_offers_the_flags_of_help(command, tmp_path):
    need("fish")
    script = f"source {COMPLETIONS / 'xagent.fish'}; complete -C 'xagent {' '.join(command)} --'"
    offered = {line.split("\t")[0] for line in output("fish", "-N", "-c", script, env=os.environ | {"HOME": str(tmp_path)}).splitlines()}
    assert offered == long_flags(command)


def test_zsh_understands_its_completion():
    need("zsh")
    output("zsh", "-n", COMPLETIONS / "_xagent")
