# SPDX-License-Identifier: Apache-2.0
"""
Runs inside gdb: prints, as JSON, the stacks of all threads of the process that it is attached to.

{TID: {"frames": [[pc, function or null, kind], …] leaf first, "stop": why gdb went no further}}
"""
import json

import gdb

# More than any test looks at, and an end for stacks that gdb thinks go round in circles.
MOST_FRAMES = 1600


def frames_of(frame):
    frames = []
    while frame is not None and len(frames) < MOST_FRAMES:
        # Frames that are none: functions inlined, and those that have left by a jump, which gdb makes up from debug information.
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            kind = "signal" if frame.type() == gdb.SIGTRAMP_FRAME else "normal"
            frames.append([frame.pc(), frame.name(), kind])
        try:
            older = frame.older()
        except gdb.error as error:
            return frames, str(error)
        if older is None:
            return frames, gdb.frame_stop_reason_string(frame.unwind_stop_reason())
        frame = older
    return frames, "enough"


def main():
    gdb.execute("set backtrace past-main on")
    gdb.execute("set backtrace past-entry on")
    gdb.execute(f"set backtrace limit {MOST_FRAMES}")
    stacks = {}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        frames, stop = frames_of(gdb.newest_frame())
        stacks[thread.ptid[1] or thread.ptid[0]] = {"frames": frames, "stop": stop}
    print("STACKS " + json.dumps(stacks))


main()
