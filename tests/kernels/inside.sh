# SPDX-License-Identifier: Apache-2.0
# What runs in the virtual machine: prints sections that check.py judges. No test is made here, there is only busybox.
section() { echo "=section=$1="; }

wait_ready() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		wget -q -O /dev/null http://127.0.0.1:12345/-/ready 2>/dev/null && return
		sleep 1
	done
}

# Before there are packets: it patches code that they run through, and the emulator's other CPU may be in the middle of that.
echo 2 >/sys/class/net/lo/queues/rx-0/rps_cpus

section kernel
uname -r

section command
/x/xagent profile --verifier-stats -f folded -F 199 -o /tmp/folded -- /x/chain 4 2>&1
echo "exit $?"

section folded
cat /tmp/folded

section tracepoint
/x/xagent profile --verifier-stats -e tracepoint:syscalls:sys_enter_lseek -f folded -o /tmp/hits -- /x/seeker 60 20 5000 2>&1
echo "exit $?"

section hits
cat /tmp/hits

section off_cpu
/x/xagent profile --verifier-stats -e off_cpu -f folded -o /tmp/waits -- /x/waiter 40 2>&1
echo "exit $?"

section waits
cat /tmp/waits

# Each I/O, each page: what is wrong in the kernel's fields that are read would be seen in counts and bytes.
section events
disk=/dev/nvme0n1
events=faults,rss
[ ! -b $disk ] || events=$events,block_io
/x/xagent profile -e $events -F 10000 -f pprof -o /tmp/events.pb.gz -- \
	sh -c "[ ! -b $disk ] || /x/disk $disk 20 reads_direct writes_direct syncs discards; /x/faulter 2000 2" 2>&1
echo "exit $?"
sed -n 's/^KernelPageSize: *\([0-9]*\) kB/page_kb \1/p' /proc/self/smaps | head -1

section profiles
for event in block_io faults rss; do
	[ ! -s /tmp/events.$event.pb.gz ] || echo "profile $event $(base64 /tmp/events.$event.pb.gz | tr -d '\n')"
done

# Each of the others, beside what a program says of itself. They end within a second: then begins to be measured what a run costs, for which the kernel patches code
# that system calls run through, and the emulator's CPUs may never get out of it.
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
section others
for run in "locks locker 10" "syscalls caller 10" "tcp connector 20" "run_queue reasons 1" "wall lives 8 800 2000 30000"; do
	set -- $run
	/x/xagent profile -e "$1,cpu" -F 997 -f pprof -o /tmp/others.pb.gz -- "/x/$2" "$3" $4 $5 $6 2>&1
	echo "exit $?"
done

section found
for event in locks syscalls tcp run_queue wall; do
	[ ! -s /tmp/others.$event.pb.gz ] || echo "profile $event $(base64 /tmp/others.$event.pb.gz | tr -d '\n')"
done

# Interpreted frames between native ones: at once, and by processes that end before they are looked at; and of an interpreter in a library.
section interpreted
/x/toy-xagent profile --verifier-stats -U -f folded -F 199 -o /tmp/interpreted -- sh -c '/x/toy 4 3 moving; for i in 1 2 3 4 5; do /x/toy 0.2 3; done; /x/toyhost 0.7 3 waiting; for i in 1 2 3 4 5; do /x/toyhost 0.2 3; done' 2>&1
echo "exit $?"

section both
cat /tmp/interpreted

section python
/x/xagent profile -U -f folded -F 97 -o /tmp/python -- /x/python -S -E /x/spin.py 6 2>&1
echo "exit $?"

section functions
cat /tmp/python

# Processes that end before they are looked at, on a machine that has nothing else to run.
section young
ln -s /x/python /tmp/young
/x/xagent profile -U -f folded -F 97 -o /tmp/youngs -- sh -c '/x/python -S -E /x/spin.py 1; for i in 1 2 3 4 5 6; do /tmp/young -S -E /x/spin.py 0.3; done' 2>&1
echo "exit $?"

section youngs
cat /tmp/youngs

# Functions of JavaScript by each kind of V8's code, at the system call that the innermost one makes.
section node
if [ -x /x/node ]; then
	for flags in --jitless '--no-opt --no-maglev --always-sparkplug' '--no-maglev --no-sparkplug' ''; do
		echo "flags $flags"
		/x/xagent profile -U -f folded -e tracepoint:syscalls:sys_enter_pread64 -o /tmp/node -- /x/node $flags /x/nested.js 15 >/tmp/said 2>&1
		echo "exit $?"
		cat /tmp/node
	done
fi

# Methods of Java, one by one, by the interpreter and by each compiler.
section java
if [ -x /x/jdk/bin/java ]; then
	for flags in -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation -XX:+TieredCompilation; do
		echo "flags $flags"
		/x/xagent profile -U -f folded -F 497 -o /tmp/java -- /x/jdk/bin/java "$flags" -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,chains.Chains*::*' \
			-cp /x/classes chains.Chains 15 >/tmp/said 2>&1
		echo "exit $?"
		cat /tmp/java
	done
fi

# … and below native code that cannot be walked, by the JVM's anchors.
section anchors
if [ -x /x/jdk/bin/java ]; then
	for flags in -Xint -XX:TieredStopAtLevel=1; do
		echo "flags $flags"
		/x/xagent profile -U -f folded -F 497 -o /tmp/java -- /x/jdk/bin/java "$flags" -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,chains.Poor::*' \
			-cp /x/classes chains.Poor 30 /x/libpoorjni.so >/tmp/said 2>&1
		echo "exit $?"
		cat /tmp/java
	done
fi

section unit
for program in /x/unit/*; do
	[ -x "$program" ] || continue
	"$program" >/tmp/said 2>&1
	echo "exit $? ${program##*/}"
	grep -v '^\[ \(RUN\|      OK\) ' /tmp/said
done

# Stopped by ptrace.
section inspect
for program in shallow jit signed; do
	[ -x /x/$program ] || continue
	/x/$program 60 30 mixed >/tmp/pid &
	until [ -s /tmp/pid ]; do usleep 100000; done
	echo "program $program"
	/x/xagent inspect stack $! 2>&1
	echo "exit $?"
	kill $!
	rm /tmp/pid
done

# All at once: starting xagent takes longer here than what it is to see.
section unwind
/x/xagent profile -U -f folded -F 199 -o /tmp/unwound -- /x/unwind.sh 2>&1
echo "exit $?"

section unwound
cat /tmp/unwound

# By itself: what else is to be seen waits for the table of a Go program.
section go
[ ! -x /x/go-cgo ] || /x/xagent profile -U -f folded -F 199 -o /tmp/go -- /x/go-cgo 8 2>&1
echo "exit $?"

section called
[ ! -x /x/go-cgo ] || cat /tmp/go

# They end before their tables are there, or soon after: their stacks are copied, and each is on two.
section first
for program in "go-cgo 2" "signals 2 alternate"; do
	[ -x "/x/${program%% *}" ] || continue
	for run in 1 2 3; do
		rm -f /tmp/first
		/x/xagent profile -U -f folded -F 199 -o /tmp/first -- /x/$program >/tmp/said 2>&1
		echo "exit $?"
		cat /tmp/first
	done
done

# One CPU sends, the other has nothing to do but to receive, in softirqs (rps_cpus).
section idle
/x/softirqs 30 0 >/dev/null &
softirqs=$!
/x/xagent profile -f folded -F 199 -d 4 -o /tmp/received 2>&1
echo "exit $?"
kill $softirqs

section received
cat /tmp/received

section agent
/x/xagent run /x/agent.alloy >/tmp/log 2>&1 &
agent=$!
wait_ready
/x/chain 4 >/dev/null
/x/bigmap 12 0 >/dev/null
wget -q -O /tmp/metrics http://127.0.0.1:12345/metrics
kill -TERM $agent
wait $agent
echo "exit $?"
cat /tmp/log

section metrics
cat /tmp/metrics
