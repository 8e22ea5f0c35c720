# SPDX-License-Identifier: Apache-2.0
"""One chain of calls, for six seconds."""
import time


class Service:
    def handle(self):
        spin()


def spin():
    end = time.time() + 6
    while time.time() < end:
        sum(i * i for i in range(100))


Service().handle()
