#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the texts say about the code, compared with the code: links, files, sources that a README or a comment names, who may include whom,
# sizes, constants, the version. Prints each difference; exits 1 when there is one.
# usage: docs.sh [SOURCE_ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

texts() {
	find . \( -path ./build -o -path ./.git \) -prune -o -name '*.md' -print | sed 's|^\./||' | sort
}

# text: its headings, as links name them
anchors() {
	sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' | tr -d '`,.:()?!/' | tr ' ' '-'
}

# [words](path#heading): from the folder that the text is in.
links() {
	local text target file
	texts | xargs grep -oHE '\]\([^)]+\)' | sed -E 's/:\]\((.*)\)$/ \1/' | while read -r text target; do
		[[ $target != *:* ]] || continue
		file=$text
		[[ $target == '#'* ]] || file=$(dirname "$text")/${target%%#*}
		if [ ! -e "$file" ]; then
			echo "$text: links to $target, which is not there"
		elif [[ $target == *'#'* ]] && ! anchors "$file" | grep -qxF "${target#*#}"; then
			echo "$text: links to $target, and ${file#./} has no such heading"
		fi
	done
}

# "`NAME` (N)", in bytes also "N KiB" or "N MiB", is what the code defines.
constants() {
	local text name told expression
	texts | xargs grep -oHE '`[A-Z][A-Z0-9_]+` \([0-9,]+( [KM]iB)?\)' | tr -d '`(),' | sed 's/:/ /; s/ KiB/*1024/; s/ MiB/*1048576/' |
		while read -r text name told; do
			expression=$(grep -rhE "^#define $name " agent bpf pprof river-config --include='*.[ch]' | head -1 |
				sed -E "s/^#define $name +//; s|/\*.*||; s/\((u?int[0-9]+_t|size_t)\)//g; s/([0-9])[UL]+/\1/gI")
			[[ $expression =~ ^[0-9\ ()*+\<-]+$ ]] && ((expression == told)) ||
				echo "$text: $name is '$expression', not ${told}"
		done
}

# Each source is in its folder's README: by its name, or as `begin*` or `_end` of a name. What only its own files include is not.
told() { # README NAME
	local rest=$2
	[[ $1 =~ [^a-z0-9_]$2[^a-z0-9_] ]] && return
	while [[ $rest == *_* ]]; do
		rest=${rest%_*}
		[[ $1 == *"$rest*"* || $1 == *"${rest}_*"* || $1 =~ [^a-z0-9]"_${2#"$rest"_}"[^a-z0-9_] ]] && return
	done
	return 1
}

files() {
	local readme folder source name
	for readme in $(texts | grep -E '^(agent|pprof|river-config|bpf)/?.*README\.md$'); do
		folder=$(dirname "$readme")
		for source in "$folder"/*.[ch]; do
			name=$(basename "$source")
			name=${name%.[ch]}
			[[ $source == *'*'* || $name == *_private || $name == *_internal ]] || told "$(<"$readme")" "${name%.bpf}" ||
				echo "$readme: says nothing about $name"
		done
	done
}

# A folder with sources has a README, in which they are looked for.
folders() {
	local folder
	find agent pprof river-config -name '*.[ch]' -printf '%h\n' | sort -u | while read -r folder; do
		[ -e "$folder/README.md" ] || echo "$folder: has no README.md"
	done
}

# "file: word" for each `x.c` or `x.h` in the comments of sources and in texts.
words_like_sources() {
	find agent bpf pprof river-config tests -name '*.[ch]' -print0 | sort -z | xargs -0 awk '
		{
			for (rest = $0; rest != ""; rest = substr(rest, end + 2)) {
				if (!inside) {
					if (!(begin = index(rest, "/*")))
						break
					rest = substr(rest, begin + 2)
				}
				end = index(rest, "*/")
				print FILENAME ": " (end ? substr(rest, 1, end - 1) : rest)
				if ((inside = !end))
					break
			}
		}'
	texts | xargs awk '{ print FILENAME ": " $0 }'
}

# A source that is named is there. Not ours: those of the kernel and of libraries, placeholders (NAME.c, _end.c), examples (a.c, x_private.h).
named_sources() {
	local elsewhere='(arch|asm|bfd|fs|include|ipc|kernel|linux|net|sanitizer)/.*|cmocka\.h|deflate\.h|libiberty\.h'
	local examples='.*NAME.*|_.*|a(\.b)?\.c|x_private\.h|.*\.(pb-c|skel)\.h'
	words_like_sources | grep -oE '^[^ ]+: |[A-Za-z0-9_./-]+\.[ch]\b' | awk '/: $/ { file = $0; next } { print file $0 }' |
		grep -vE ": ($elsewhere|$examples)\$" | sort -u | awk '
		FNR == NR {
			for (name = $0; !(name in there); name = substr(name, index(name, "/") + 1)) {
				there[name]
				if (!index(name, "/"))
					break
			}
			next
		}
		!($2 in there) { print $1 " names " $2 ", which is not there" }' <(find agent bpf pprof river-config tests -name '*.[ch]') -
}

# A folder's README says first what comes in and what goes out.
first_lines() {
	local text
	for text in $(texts | grep -E '/README\.md$' | grep -v '^deploy/examples/'); do
		head -14 "$text" | tr '\n' ' ' | grep -qE 'comes? in\b.*goe?s? out' || echo "$text: the first lines do not say what comes in and what goes out"
	done
}

# VERSION of the Makefile is the only one; what cannot ask make repeats it.
versions() {
	local version
	version=$(sed -n 's/^VERSION := //p' Makefile)
	grep -rnoE '(xagent(-demo-shop)?[:_]|kubernetes\.io/version: |newTag: |^version: |^appVersion: )[0-9]+\.[0-9.]+' deploy ./*.md |
		grep -vE "[ :_]${version//./\\.}\$" | sed "s/\$/  -- the version is $version (Makefile)/"
	grep -qx "## $version" CHANGELOG.md || echo "CHANGELOG.md: nothing about $version"
}

# "`struct x`, N B" is what an assertion holds.
sizes() {
	local text name size
	texts | xargs grep -oHE '`struct [a-z_]+`, [0-9]+ B' | sed -E 's/^([^:]+):`struct ([a-z_]+)`, ([0-9]+) B/\1 \2 \3/' |
		while read -r text name size; do
			case $name in
			*_counters) grep -q "WIRE_COUNTER_FIELD(name, text) __u64 name;" bpf/wire.h && [ "$size" = 8 ] ;;
			*) grep -rqF "_Static_assert(sizeof(struct $name) == $size," bpf --include='*.h' ;;
			esac || echo "$text: no assertion in bpf/ says that struct $name has $size bytes"
		done
}

# The table of agent/README.md against the rules of includes.sh, each as "folder: words in order". Telemetry is allowed everywhere above util.
words() {
	tr ' ' '\n' | grep -vxE "telemetry|util|$1|" | sort | tr '\n' ' '
}

borders() {
	local module rule told
	sed -n "/^rules='/,/^'/p" tests/lint/includes.sh | grep '^[a-z]* *[a-z*]' | while read -r module rule; do
		[ -d "agent/$module" ] || continue
		told=$(sed -nE "s/^\| \`$module\` \|.*\| (.*) \|$/\1/p" agent/README.md | tr -d '`,' | sed 's/^everything$/*/')
		[ "$(words "$module" <<<"$rule")" = "$(words "$module" <<<"$told")" ] ||
			echo "agent/README.md: $module may include '$told', says the table; includes.sh says '$rule'"
	done
}

findings=$({
	links
	sizes
	borders
	first_lines
	files | uniq
	folders
	versions
	constants
	named_sources
} || true)
[ -z "$findings" ] && exit 0
printf '%s\n' "$findings"
exit 1
