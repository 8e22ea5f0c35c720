#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In the virtual machine: programs without frame pointers, of which check.py knows the stacks.
/x/shallow 15 30 mixed &
/x/aligned 15 30 aligned &
/x/deep 15 200 mixed &
/x/deep-static 15 200 mixed &
/x/signals 15 alternate &
/x/jit 15 &
/x/coroutine 15 &
/x/clocks 15 & # in the vDSO, most of the time
[ ! -x /x/signed ] || /x/signed 15 30 mixed & # pointer authentication
/x/host 15 /x/plugin_a.so /x/plugin_b.so &
wait
