# SPDX-License-Identifier: Apache-2.0
# bash completion for xagent: commands, flags, their values, files and process ids.

_xagent_flags() {
	case $1 in
	run) echo "--push.url= --otlp.endpoint= --server.http.listen-addr= --server.http.probe-addr= --server.http.allowed-hosts= --server.http.ui-path-prefix=
		--server.http.disable-support-bundle --config.watch --config.format= --stability.level= --storage.path= --disable-reporting --help" ;;
	profile) echo "--pid --tid --cpu --cgroup --all --idle --user --kernel --event --frequency --duration --demangle --lines --columns --interpreter-frames --async-frames --thread-names --hotspot-tiers --hotspot-arguments --off-cpu-reason --off-cpu-waker
		--debuginfod --debuginfod-cache --output --format --memory-limit --verifier-stats --verbose --help" ;;
	top) echo "--pid --tid --cpu --cgroup --event --off-cpu-waker --user --kernel --frequency --interval --duration --rows --verbose --help" ;;
	validate) echo "--stability.level= --config.format= --help" ;;
	fmt) echo "--write --test --help" ;;
	convert) echo "--source-format= --output= --help" ;;
	inspect\ rows) echo "--stats --help" ;;
	inspect\ symbols) echo "--demangle --lines --help" ;;
	*) echo "--help" ;;
	esac
}

# Words of $1 that begin with $2.
_xagent_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}

# Words of $1 that begin with what stands behind the last comma of $2.
_xagent_list() {
	local before=
	[[ $2 != *,* ]] || before=${2%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
}

# Files that begin with $1; with $2 those that match it, and directories.
_xagent_files() {
	compopt -o filenames 2>/dev/null
	if [ $# -gt 1 ]; then
		mapfile -t COMPREPLY < <(compgen -d -- "$1"; compgen -f -X "!$2" -- "$1")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$1")
	fi
}

# The value of flag $2 of command $1 that begins with $3. False: it takes none, or one of which nothing is known.
_xagent_value() {
	case "$1 $2" in
	*\ --stability.level) _xagent_words "generally-available public-preview experimental" "$3" ;;
	*\ --config.format) _xagent_words "alloy flow river" "$3" ;;
	*\ --demangle) _xagent_words "none simplified templates full" "$3" ;;
	convert\ --source-format | convert\ -f) _xagent_words yaml "$3" ;;
	profile\ --event | profile\ -e) _xagent_list "cpu off_cpu wall locks faults run_queue syscalls tcp block_io rss tracepoint:" "$3" ;;
	top\ --event | top\ -e) _xagent_words "cpu off_cpu wall locks faults run_queue syscalls tcp block_io rss tracepoint:" "$3" ;;
	profile\ --off-cpu-reason) _xagent_words "frame label none" "$3" ;;
	profile\ --format | profile\ -f) _xagent_words "folded pprof table html svg speedscope otlp" "$3" ;;
	profile\ --output | profile\ -o | convert\ --output | convert\ -o) _xagent_files "$3" ;;
	run\ --storage.path | profile\ --debuginfod-cache | profile\ --cgroup | top\ --cgroup)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$3")
		;;
	profile\ --pid | profile\ -p | top\ --pid | top\ -p) _xagent_pids "$3" ;;
	profile\ --tid | profile\ -t | profile\ --cpu | profile\ -c | profile\ --frequency | profile\ -F | profile\ --duration | profile\ -d | \
		top\ --tid | top\ -t | top\ --cpu | top\ -c | top\ --frequency | top\ -F | top\ --duration | top\ -d | top\ --interval | \
		top\ -i | top\ --rows | top\ -n | profile\ --debuginfod | profile\ --memory-limit | run\ --push.url | run\ --otlp.endpoint | run\ --server.http.*) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

_xagent_pids() {
	local pid pids=
	for pid in /proc/[0-9]*; do
		pids+=" ${pid#/proc/}"
	done
	_xagent_words "$pids" "$1"
}

_xagent_what() {
	case $1 in
	run | validate | fmt) _xagent_files "$2" "*.@(alloy|river)" ;;
	convert) _xagent_files "$2" "*.@(yaml|yml)" ;;
	inspect\ rows | inspect\ symbols) _xagent_files "$2" ;;
	inspect\ stack | inspect\ process) _xagent_pids "$2" ;;
	inspect) _xagent_words "rows symbols stack process eval --help" "$2" ;;
	esac
}

_xagent() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} i
	local extglob
	COMPREPLY=()
	extglob=$(shopt -p extglob)
	shopt -s extglob
	# "--flag=value" is three words for readline.
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if ((COMP_CWORD == 1)); then
		_xagent_words "run validate fmt convert profile top inspect help --version --help" "$cur"
	else
		[ "$command" != inspect ] || ((COMP_CWORD == 2)) || command="inspect ${COMP_WORDS[2]}"
		for ((i = 2; i < COMP_CWORD; i++)); do
			# What stands behind "--" is somebody else's command.
			if [ "$command" = profile ] && [ "${COMP_WORDS[i]}" = -- ]; then
				mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
				$extglob
				return
			fi
		done
		if ! _xagent_value "$command" "$prev" "$cur"; then
			if [[ $cur == -* ]]; then
				_xagent_words "$(_xagent_flags "$command")" "$cur"
			else
				_xagent_what "$command" "$cur"
			fi
		fi
	fi
	$extglob
}

complete -F _xagent xagent
