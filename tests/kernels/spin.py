# SPDX-License-Identifier: Apache-2.0
"""spin.py SECONDS: one chain of calls."""
import sys
import time


class Service:
    def handle(self):
        spin()


def spin():
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        sum(i * i for i in range(100))


Service().handle()
