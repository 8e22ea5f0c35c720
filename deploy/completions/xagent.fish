# SPDX-License-Identifier: Apache-2.0
# fish completion for xagent: commands, flags, their values, files and process ids.

function __xagent_in --description 'The command, and of inspect what, are these'
	set -l words (commandline -opc)
	set -l last (math (count $argv) + 1)
	test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

complete -c xagent -f
complete -c xagent -n __fish_use_subcommand -l version -d 'version and kernel'
complete -c xagent -s h -l help -d 'a short text'
complete -c xagent -n __fish_use_subcommand -a run -d 'profile this host: flame graphs at its own address'
complete -c xagent -n __fish_use_subcommand -a validate -d 'say what is wrong with a configuration'
complete -c xagent -n __fish_use_subcommand -a fmt -d 'lay a configuration out as everybody does'
complete -c xagent -n __fish_use_subcommand -a convert -d 'older configurations in this language'
complete -c xagent -n __fish_use_subcommand -a profile -d 'profile now, for a person'
complete -c xagent -n __fish_use_subcommand -a top -d 'which services and functions are busy'
complete -c xagent -n __fish_use_subcommand -a inspect -d 'look at stacks, unwind rules and names'
complete -c xagent -n __fish_use_subcommand -a help -d 'a short text'

complete -c xagent -n '__xagent_in run' -l stability.level -x -a 'generally-available public-preview experimental' -d 'how new features may be'
complete -c xagent -n '__xagent_in run' -l config.format -x -a 'alloy flow river' -d 'language of the configuration'
complete -c xagent -n '__xagent_in validate' -l stability.level -x -a 'generally-available public-preview experimental' -d 'how new features may be'
complete -c xagent -n '__xagent_in validate' -l config.format -x -a 'alloy flow river' -d 'language of the configuration'
complete -c xagent -n '__xagent_in run' -l push.url -x -d 'send the profiles to this server, too'
complete -c xagent -n '__xagent_in run' -l otlp.endpoint -x -d 'send the profiles to this server of OTLP, too'
complete -c xagent -n '__xagent_in run' -l server.http.listen-addr -x -d 'where to answer'
complete -c xagent -n '__xagent_in run' -l server.http.probe-addr -x -d 'probes and metrics here too'
complete -c xagent -n '__xagent_in run' -l server.http.allowed-hosts -x -d 'names that the agent is asked by'
complete -c xagent -n '__xagent_in run' -l server.http.ui-path-prefix -x -d 'answer below it too'
complete -c xagent -n '__xagent_in run' -l server.http.disable-support-bundle -d 'no /-/support'
complete -c xagent -n '__xagent_in run' -l config.watch -d 'read the configuration again when its files change'
complete -c xagent -n '__xagent_in run' -l storage.path -x -a '(__fish_complete_directories)' -d 'for files of the agent'
complete -c xagent -n '__xagent_in run' -l disable-reporting -d 'nothing is ever reported'
complete -c xagent -n '__xagent_in run' -F
complete -c xagent -n '__xagent_in validate' -F
complete -c xagent -n '__xagent_in fmt' -F
complete -c xagent -n '__xagent_in fmt' -s w -l write -d 'write the result to the file'
complete -c xagent -n '__xagent_in fmt' -s t -l test -d 'exit code 1 if it is formatted differently'
complete -c xagent -n '__xagent_in convert' -s f -l source-format -x -a 'yaml' -d 'of what'
complete -c xagent -n '__xagent_in convert' -s o -l output -r -F -d 'a file'
complete -c xagent -n '__xagent_in convert' -F
complete -c xagent -n '__xagent_in profile' -s p -l pid -x -a '(__fish_complete_pids)' -d 'these processes'
complete -c xagent -n '__xagent_in profile' -s t -l tid -x -d 'these threads'
complete -c xagent -n '__xagent_in profile' -s c -l cpu -x -d 'these CPUs'
complete -c xagent -n '__xagent_in profile' -l cgroup -x -a '(__fish_complete_directories)' -d 'a cgroup2 directory and those below'
complete -c xagent -n '__xagent_in profile' -s a -l all -d 'the whole host while the command runs'
complete -c xagent -n '__xagent_in profile' -s I -l idle -d 'idle CPUs too'
complete -c xagent -n '__xagent_in profile' -s U -l user -d 'user stacks only'
complete -c xagent -n '__xagent_in profile' -s K -l kernel -d 'kernel stacks only'
complete -c xagent -n '__xagent_in profile' -s e -l event -x -a '(__fish_append , cpu off_cpu wall locks faults run_queue syscalls tcp block_io rss tracepoint:)' -d 'what is sampled'
complete -c xagent -n '__xagent_in profile' -s F -l frequency -x -d 'samples a second and CPU'
complete -c xagent -n '__xagent_in profile' -s d -l duration -x -d 'how long'
complete -c xagent -n '__xagent_in profile' -l demangle -x -a 'none simplified templates full' -d 'names of C++, Rust, D'
complete -c xagent -n '__xagent_in profile' -l lines -d 'files, lines and inlined functions'
complete -c xagent -n '__xagent_in profile' -l columns -d 'with lines, columns of JavaScript'
complete -c xagent -n '__xagent_in profile' -l interpreter-frames -d 'frames of interpreters, too'
complete -c xagent -n '__xagent_in profile' -l hotspot-arguments -d 'types of arguments in names of Java methods'
complete -c xagent -n '__xagent_in profile' -l async-frames -d 'frames of awaiting tasks, too'
complete -c xagent -n '__xagent_in profile' -l off-cpu-reason -x -a 'frame label none' -d 'how what is waited for is told'
complete -c xagent -n '__xagent_in profile' -l debuginfod -x -d 'a server of debug files'
complete -c xagent -n '__xagent_in profile' -l debuginfod-cache -x -a '(__fish_complete_directories)' -d 'where they are kept'
complete -c xagent -n '__xagent_in profile' -s o -l output -r -F -d 'a file'
complete -c xagent -n '__xagent_in profile' -s f -l format -x -a 'folded pprof table html svg speedscope otlp' -d 'of the result'
complete -c xagent -n '__xagent_in profile' -l memory-limit -x -d 'of tables, symbols and stacks'
complete -c xagent -n '__xagent_in profile' -l verifier-stats -d 'instructions that the verifier processed'
complete -c xagent -n '__xagent_in profile' -s v -l verbose -d 'log at level debug'
complete -c xagent -n '__xagent_in profile; and contains -- -- (commandline -opc)' -a '(__fish_complete_command)' -F
complete -c xagent -n '__xagent_in top' -s p -l pid -x -a '(__fish_complete_pids)' -d 'these processes'
complete -c xagent -n '__xagent_in top' -s t -l tid -x -d 'these threads'
complete -c xagent -n '__xagent_in top' -s c -l cpu -x -d 'these CPUs'
complete -c xagent -n '__xagent_in top' -l cgroup -x -a '(__fish_complete_directories)' -d 'a cgroup2 directory and those below'
complete -c xagent -n '__xagent_in top' -s U -l user -d 'user stacks only'
complete -c xagent -n '__xagent_in top' -s K -l kernel -d 'kernel stacks only'
complete -c xagent -n '__xagent_in top' -s e -l event -x -a 'cpu off_cpu wall locks faults run_queue syscalls tcp block_io rss tracepoint:' -d 'what is sampled'
complete -c xagent -n '__xagent_in top' -s F -l frequency -x -d 'samples a second and CPU'
complete -c xagent -n '__xagent_in top' -s d -l duration -x -d 'how long'
complete -c xagent -n '__xagent_in top' -s v -l verbose -d 'log at level debug'
complete -c xagent -n '__xagent_in top' -s i -l interval -x -d 'what one screen tells of'
complete -c xagent -n '__xagent_in top' -s n -l rows -x -d 'functions in a table'

complete -c xagent -n '__xagent_in inspect; and test (count (commandline -opc)) -eq 2' -a rows -d 'the unwind rules of a file'
complete -c xagent -n '__xagent_in inspect; and test (count (commandline -opc)) -eq 2' -a symbols -d 'what the functions of a file are named by'
complete -c xagent -n '__xagent_in inspect; and test (count (commandline -opc)) -eq 2' -a stack -d 'the present stacks of all threads of a process'
complete -c xagent -n '__xagent_in inspect; and test (count (commandline -opc)) -eq 2' -a process -d 'who a process is, and what it is unwound and named by'
complete -c xagent -n '__xagent_in inspect; and test (count (commandline -opc)) -eq 2' -a eval -d 'what an expression of the configuration language yields'
complete -c xagent -n '__xagent_in inspect rows' -l stats -d 'one line a file'
complete -c xagent -n '__xagent_in inspect symbols' -l demangle -x -a 'none simplified templates full' -d 'names of C++, Rust, D'
complete -c xagent -n '__xagent_in inspect symbols' -l lines -d 'inlined functions, files and lines'
complete -c xagent -n '__xagent_in inspect rows' -F
complete -c xagent -n '__xagent_in inspect symbols' -F
complete -c xagent -n '__xagent_in inspect stack' -a '(__fish_complete_pids)'
complete -c xagent -n '__xagent_in inspect process' -a '(__fish_complete_pids)'
