#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The borders between the modules, as far as #include shows them. Prints each include that crosses one, and each rule that is about nothing; exits
# 1 when there is one.
# usage: includes.sh [SOURCE_ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

# module: what it may include. A word is a module or one header. `main` is agent/main.c, `river` is river-config/.
rules='
util       util
telemetry  util telemetry
process    util telemetry process wire.h
object     util telemetry object rule.h
http       util telemetry http
sample     util telemetry sample wire.h events.h
unwind     util telemetry unwind process object wire.h rule.h table.h unwind.h anchor.h
runtimes   util telemetry runtimes process object wire.h image.h runtimes/python.h runtimes/v8.h runtimes/hotspot.h runtimes/hotspot_thread.h
dwarf      util telemetry dwarf object
symbol     util telemetry symbol dwarf process object
target     util telemetry target process events.h
discovery  util telemetry discovery target process http yaml_node.h
encode     util encode target pprof.h
profile    util telemetry profile encode sample process runtimes unwind symbol target wire.h pprof.h
push       util telemetry push http
store      util telemetry store http target encode
scrape     util telemetry scrape http target store pprof.h
receive    util telemetry receive push http target store pprof.h
page       util page
draw       util draw sample profile store page
component  *
cli        *
main       *
pprof      pprof
river      river
bpf        bpf
'

# module: where its sources are
place() {
	case $1 in
	main) echo agent/main.c ;;
	river) echo river-config ;;
	pprof | bpf) echo "$1" ;;
	*) echo "agent/$1" ;;
	esac
}

# word: how an include of it begins
spelling() {
	case $1 in
	pprof.h) echo pprof/pprof.h ;;
	yaml_node.h) echo river-config/yaml_node.h ;;
	*.h) echo "bpf/$1" ;;
	*) echo "$(place "$1")/" ;;
	esac
}

# What a rule names is there, and somebody includes it; of `telemetry` all may.
stale_rules() {
	local module words word
	while read -r module words; do
		[ -n "$module" ] || continue
		[ -e "$(place "$module")" ] || echo "includes.sh: there is no $(place "$module")"
		for word in $words; do
			case $word in
			'*' | telemetry | "$module") continue ;;
			esac
			grep -rqF "#include \"$(spelling "$word")" "$(place "$module")" ||
				echo "includes.sh: nothing in $module includes $word"
		done
	done <<<"$rules"
}

sources() {
	find agent pprof river-config bpf -name build -prune -o -name '*.[ch]' -print | sort
}

# file:line:"header" or file:line:<header>
includes() {
	sources | xargs grep -nHE '^[[:space:]]*#[[:space:]]*include' |
		sed -E 's/^([^:]+:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*([<"][^>"]*[>"]).*/\1:\2/'
}

set -f # '*' is a word
stale=$(stale_rules)
[ -z "$stale" ] || printf '%s\n' "$stale"

includes | STALE=$stale RULES=$rules awk -F: '
function module(path, parts) {
	split(path, parts, "/")
	if (path ~ /^agent\/[^\/]*$/)
		return "main"
	if (parts[1] == "agent")
		return parts[2]
	return parts[1] == "river-config" ? "river" : parts[1]
}
function folder(path) {
	return substr(path, 1, match(path, /[^\/]*$/) - 1)
}
function bad(why) {
	printf "%s:%s: %s: %s\n", $1, $2, $3, why
	failed = 1
}
# What is generated is found by its own name.
function generated(header) {
	return header ~ /\.(skel|pb-c)\.h$/
}
function check_generated(header, from) {
	if (header ~ /\.skel\.h$/ && (from != "sample" || $1 !~ /\.c$/))
		bad("skeletons are for the sources of agent/sample")
	if (header ~ /\.pb-c\.h$/ && $1 !~ /\.c$/)
		bad("generated messages do not show in a header")
}
function allowed(from, header, to) {
	if (from == to || may[from, to] || may[from, "*"])
		return 1
	if (to == "bpf")
		return may[from, substr(header, 5)]
	if (header == "river-config/yaml_node.h")
		return may[from, "yaml_node.h"]
	return header == "pprof/pprof.h" && may[from, "pprof.h"]
}
function check_ours(header, from, to) {
	if (header !~ /\//) {
		bad("spell it from the root of the repository")
		return
	}
	to = module(header)
	if (!allowed(from, header, to))
		bad(from " may not include " to)
	if (from != to && to == "pprof" && header != "pprof/pprof.h")
		bad("only pprof.h is public")
	if (from != to && to == "river" && header !~ /^river-config\/(river|yaml_node)\.h$/)
		bad("only river.h and yaml_node.h are public")
	if (header ~ /_(internal|private)\.h$/ && folder(header) != folder($1))
		bad("an internal header of another folder")
}
# In a header, libbpf would reach whoever includes it.
function check_libbpf(header, from) {
	if (header !~ /^bpf\// || from == "bpf")
		return
	if ($1 ~ /\.h$/)
		bad("no libbpf in headers")
	else if (from != "sample" && from != "unwind" && from != "runtimes")
		bad("libbpf is for agent/sample, agent/unwind and agent/runtimes")
}
BEGIN {
	n = split(ENVIRON["RULES"], lines, "\n")
	for (i = 1; i <= n; i++) {
		m = split(lines[i], words, " ")
		if (m)
			known[words[1]] = 1
		for (j = 2; j <= m; j++)
			may[words[1], words[j]] = 1
	}
}
{
	from = module($1)
	header = substr($3, 2, length($3) - 2)
	if (!(from in known)) {
		bad("includes.sh has no rule for the folder " from)
	} else if (generated(header)) {
		check_generated(header, from)
	} else if ($3 ~ /^"/) {
		check_ours(header, from)
	} else {
		if (header ~ /^(agent|pprof|river-config)\//)
			bad("ours are included with quotes")
		check_libbpf(header, from)
	}
}
END {
	exit failed || ENVIRON["STALE"] != ""
}
'
