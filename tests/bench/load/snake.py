# SPDX-License-Identifier: Apache-2.0
"""Ten calls deep in the interpreter. usage: snake.py SECONDS"""
import sys
import time


def work():
    end = time.thread_time() + .02
    while time.thread_time() < end:
        sum(i * i for i in range(2000))


def descend(level):
    if level:
        descend(level - 1)
    else:
        work()


for period in range(int(sys.argv[1]) * 10):
    next_at = time.monotonic() + .1
    descend(8)
    time.sleep(max(0, next_at - time.monotonic()))
