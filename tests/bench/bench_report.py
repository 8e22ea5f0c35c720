# SPDX-License-Identifier: Apache-2.0
"""The table that a person reads: figure, measured, aim, baseline of the same run."""
from harness import paths

DEPTHS = [4, 10, 20, 30, 60, 120]
# The load's programs as their profiles are called.
PROGRAMS = ["native", "caller", "shapes", "gopher", "snake", "node", "spawner", "true", "programs"]


def row(name, measured, aim="", baseline=""):
    print(f"{name:<52} {measured:>16} {aim:>12}  {baseline}")


def head(title, baseline):
    print(f"\n{title}")
    row("figure", "measured", "aim", baseline)


def _or_dash(value, form):
    return "-" if value is None else form % value


def walk(result):
    head("Walk of a native stack, warm, 256 stacks over and over, best of 15 runs of 4096 walks", "primitives of the other profilers")
    if not result:
        return row("not measured", "-")
    for depth in DEPTHS:
        ns, peers = result[f"walk_{depth}"], result[f"peers_{depth}"]
        row(f"{depth} frames: ns, ns a frame", "%.0f, %.1f" % (ns, ns / depth), {30: "1200, 40"}.get(depth, ""),
            "%.0f, %.0f" % (peers, peers / depth))
    row("30 frames that no walk before has seen: ns", "%.0f" % result["walk_new_30"], "", "%.0f" % result["peers_30"])
    row("30 frames and the ring: ns", "%.0f" % result["ring_30"])
    for level, what in (("l2", "2 MiB"), ("l3", "40 MiB")):
        row(f"30 frames, behind {what} of other memory: ns, median", "%.0f" % result[f"walk_once_{level}"], "",
            "%.0f" % result[f"peers_once_{level}"])
    row("reads of the stack, searches for mappings, the same", "%.1f, %.1f" % (result["walk_new_fills_30"],
                                                                             result["walk_new_searches_30"]))
    row("rows, mappings", "%.0f, %.0f" % (result["rows"], result["mappings"]))
    if not result["alone"]:
        print("(not in real time: others may have run in between)")
    return None


def tables(t):
    head("Unwind tables of the files of this machine, one core, best of 3 in CPU time", "others")
    if not t or not t["n_rows"]:
        return row("not measured", "-")
    row("table bytes / .eh_frame bytes", "%.3f" % (t["table_bytes"] / t["eh_frame_bytes"]), "<= 0.45", "0.8 (published)")
    row("ELF files, MiB of .eh_frame", "%.0f, %.0f" % (t["n_files"], t["eh_frame_bytes"] / 2**20))
    row("rows, before merging", "%.1f M, %.1f M" % (t["n_rows"] / 1e6, t["n_raw_rows"] / 1e6))
    row("ns a row, all files and sources", "%.1f" % (t["ns"] / t["n_rows"]), "<= 20")
    if t["large_rows"]:
        row("libLLVM: ms, ns a row", "%.1f, %.1f" % (t["large_ns"] / 1e6, t["large_ns"] / t["large_rows"]), "< 30, 20")
    row("telling equal tables: share of building", "%.3f" % (t["hash_ns"] / t["ns"]), "< 0.02")
    row("slowest file: ms", "%.0f" % (t["slowest_ns"] / 1e6), "", str(t["slowest"]))
    row("rows not represented, dropped; bad entries",
        "%.0f, %.0f; %.0f" % (t["n_unrepresentable"], t["n_dropped"], t["n_bad"]))
    row("files that failed", "%.0f" % t["n_failed"], "0")
    return None


def names(n):
    head("Names, one core, best of 5 in CPU time", "")
    if not n:
        return row("not measured", "-")
    if n.get("index_symbols"):
        row("libLLVM: symbols, index bytes a symbol", "%.0f, %.1f" % (n["index_symbols"], n["index_bytes"] / n["index_symbols"]), "<= 8")
        row("libLLVM: ns a symbol of the index", "%.0f" % (n["index_ns"] / n["index_symbols"]), "<= 150")
    if n.get("store_ns"):
        row("libLLVM: 10,000 addresses named, from nothing: ms", "%.1f" % (n["store_ns"] / 1e6), "< 50", "%.0f have a function" % n["store_named"])
    if n.get("objects"):
        row("RSS with %.0f objects loaded, MiB (held when idle)" % n["objects"],
            "%.1f (%.1f)" % (n["objects_resident"] / 2**20, n["objects_held"] / 2**20), "<= 8", "%.0f names" % n["objects_named"])
    if n.get("kernel_ns"):
        row("kernel: functions, bytes a function with its name", "%.0f, %.1f" % (n["kernel_symbols"], n["kernel_bytes"] / n["kernel_symbols"]))
        row("kernel: read, ms", "%.0f" % (n["kernel_ns"] / 1e6))
        row("kernel: us a name, first, and in the next interval",
            "%.2f, %.2f" % tuple(n[f"kernel_names_{which}_ns"] / n["kernel_names_n"] / 1e3 for which in ("first", "again")))
    return None


def river(r):
    head("A configuration of 10,000 lines, one core, best of some in CPU time", "")
    if not r:
        return row("not measured", "-")
    row("parse and evaluate, ms", "%.1f" % ((r["river_parse_ns"] + r["river_references_ns"] + r["river_eval_ns"]) / 1e6), "< 50",
        "%.0f KiB, %.0f attributes" % (r["river_text_bytes"] / 1024, r["river_attributes"]))
    row("memory, MiB", "%.1f" % (r["river_bytes"] / 2**20), "< 20", "tree %.1f" % (r["river_tree_bytes"] / 2**20))
    return None


def targets(t):
    head("Targets: discovery.process, joined, relabelled, matched; every process is sampled", "")
    if not t:
        return row("not measured", "-")
    row("CPU, % of one core", "%.2f" % (100 * t["targets_cpu_share"]), "< 1",
        "%.0f processes, %.0f new a second, %.0f targets" % (t["targets_processes"], t["targets_churn_hz"], t["targets_n"]))
    row("memory, MiB", "%.1f" % (t["targets_bytes"] / 2**20), "< 10")
    row("one process seen, us; all evaluated, ms", "%.1f; %.1f" % (t["targets_seen_ns"] / 1e3, t["targets_settle_ns"] / 1e6))
    row("the set made of all targets, ms; one match, us", "%.1f; %.1f" % (t["targets_set_ns"] / 1e6, t["targets_match_ns"] / 1e3))
    return None


def store(s):
    head("The built-in store: 50 services, a profile each every 15 s, one core, CPU time", "")
    if not s:
        return row("not measured", "-")
    row("bytes a sample, when full (in the first hour)", "%.1f (%.1f)" % (s["full_bytes_a_sample"], s["bytes_a_sample"]), "",
        "%.0f as gzip'd profiles" % s["received_bytes_a_sample"])
    row("one hour of one service: flame graph, ms", "%.1f" % s["hour_of_a_service_ms"], "< 50", "%.0f nodes" % s["hour_of_a_service_nodes"])
    row("one hour of all services, ms", "%.0f" % s["hour_of_all_ms"], "", "%.0f nodes" % s["hour_of_all_nodes"])
    row("a profile taken in, us; at worst, ms", "%.0f; %.1f" % (s["put_us"], s["put_worst_ms"]))
    if s.get("own_put_us"):
        row("an own profile: tables to store, us", "%.0f" % s["own_put_us"], "", "%.0f as bytes: packed, pushed, unpacked" % s["own_packed_us"])
    row("memory at the bound of 64 MiB, beyond it, MiB", "%.1f" % s["full_rss_over_bound_mib"], "<= 30", "%.1f hours" % s["full_hours"])
    return None


def named(a):
    head("Names on this load", "")
    n, bare, where = a["frames"]
    row("frames with a function's name", "%.2f %%" % (100 * (n - bare) / n) if n else "-", ">= 99.5 %",
        "without: " + (", ".join(f"{k} {v}" for k, v in where) or "none"))


def start(s, verifier):
    head("Start", "")
    row("attached after, ms", _or_dash(s["attached"] and 1e3 * s["attached"], "%.0f"), "<= 200")
    row("first complete stack taken after exec, ms", _or_dash(s["first_stack"] and 1e3 * s["first_stack"], "%.0f"), "< 100")
    row("  the same, until it is counted in /metrics", _or_dash(s["first_stack_counted"] and 1e3 * s["first_stack_counted"], "%.0f"))
    row("CPU seconds until then", "%.2f" % s["start_cpu"], "<= 0.1")
    row("fixed kernel memory (programs, maps), MiB", "%.2f" % (s["fixed"] / 2**20), "<= 4")
    row("verifier: instructions processed", _or_dash(verifier, "%d"), "< 60000")


# What both agents have: name, figure of a run, aim, key of the same of `perf record`.
RUN = [
    ("agent CPU, % of one core", lambda a: "%.3f" % a["cpu"], "<= 0.20", lambda p: "%.2f" % p["cpu"]),
    ("RSS peak / end, MiB", lambda a: "%.1f / %.1f" % (a["peak"], a["rss"]), "<= 20", lambda p: "%.1f" % p["peak"]),
    ("BPF, % of one core", lambda a: "%.3f" % a["bpf"], "<= 0.08", None),
    ("BPF, us a sample (all ticks / samples)", lambda a: "%.1f" % a["bpf_us"], "<= 6", None),
    ("BPF, us a run (run_time_ns / run_cnt)", lambda a: "%.1f" % a["bpf_run_us"], "<= 4", None),
    ("BPF maps, MiB; of it arena", lambda a: "%.2f; %.2f" % (a["maps"] / 2**20, a["arena"] / 2**20), "<= 5", None),
    ("unwind tables: MiB, rows", lambda a: "%.2f, %.0f k" % (a["tables"] / 2**20, a["rows"] / 1e3), "", None),
    ("first push after start, s", lambda a: _or_dash(a["first"], "%.1f"), "15 + build", None),
    ("samples received / expected, 1/s", lambda a: "%.1f / %.1f" % (a["samples"], a["expected"]), "equal", None),
    ("samples lost", lambda a: "%d" % a["lost"], "0", None),
    ("samples with a stack copy (process or table unknown)", lambda a: "%d" % a["cold"], "", None),
    ("readings of the kernel's symbols", lambda a: _or_dash(a["kernel_read"], "%d"), "0", None),
    ("wire, KiB/s", lambda a: "%.2f" % a["wire"], "<= 2", lambda p: "%.0f (disk)" % p["disk"]),
]


def run(a, baseline, perf, rate, n_cpus, release):
    head("Load of %.2f busy CPUs of %d, %d Hz, %.0f s, kernel %s" % (a["busy"], n_cpus, rate, a["took"], release),
         "perf -g; the baseline agent" if baseline else "perf -g")
    for name, figure, aim, of_perf in RUN:
        beside = [of_perf(perf) if perf else "-"] if of_perf else []
        if baseline:
            beside.append(figure(baseline))
        row(name, figure(a), aim, "; ".join(beside))
    row("binary, MiB", "%.2f" % (paths.XAGENT.stat().st_size / 2**20))


def stacks(a, missing):
    head("How user stacks ended", "")
    total = sum(a["ends"].values()) or 1
    complete = a["ends"].get("root", 0) + a["ends"].get("no_user", 0)
    row("complete, %", "%.2f" % (100 * complete / total), ">= 99.95")
    for end, count in sorted(a["ends"].items(), key=lambda item: -item[1]):
        row("  " + end, "%d, %.2f %%" % (count, 100 * count / total))
    print()
    for wanted in PROGRAMS:
        found = [v for name, v in a["programs"].items() if name.startswith(wanted)]
        n, bad = sum(v[0] for v in found), sum(v[1] for v in found)
        row(f"{wanted}: samples, % complete", "%d, %.2f" % (n, 100 * (n - bad) / n) if n else "0, -")
    cut = sorted(((bad, n, name) for name, (n, bad) in a["programs"].items() if bad), reverse=True)
    if cut:
        print("most cut: " + ", ".join(f"{name} {bad} of {n}" for bad, n, name in cut[:6]))
    for name in missing:
        print(f"left out of the load: {name}")
