# SPDX-License-Identifier: Apache-2.0
# What runs in the virtual machine: prints sections that check.py judges. No test is made here, there is only busybox.
section() { echo "=section=$1="; }

wait_ready() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		wget -q -O /dev/null http://127.0.0.1:12345/-/ready 2>/dev/null && return
		sleep 1
	done
}

section kernel
uname -r

section verifier
/x/xagent profile --verifier-stats -d 1 -f folded -o /dev/null 2>&1

section command
/x/xagent profile -f folded -F 199 -o /tmp/folded -- /x/chain 4 2>&1
echo "exit $?"

section folded
cat /tmp/folded

# All at once: starting xagent takes longer here than what it is to see.
section unwind
/x/xagent profile -U -f folded -F 199 -o /tmp/unwound -- /x/unwind.sh 2>&1
echo "exit $?"

section unwound
cat /tmp/unwound

section agent
/x/xagent run /x/agent.alloy >/tmp/log 2>&1 &
agent=$!
wait_ready
/x/chain 4 >/dev/null
wget -q -O /tmp/metrics http://127.0.0.1:12345/metrics
kill -TERM $agent
wait $agent
echo "exit $?"
cat /tmp/log

section metrics
cat /tmp/metrics
