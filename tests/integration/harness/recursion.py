# SPDX-License-Identifier: Apache-2.0
"""What the stacks of recurse.c are: names in the order of its cycles, from main on."""
import resource

from . import chains

# As recurse.c has them.
CYCLES = {
    "plain": ["step_plain"],
    "mixed": ["step_plain", "step_saved", "step_array", "step_dynamic", "step_page"],
    "huge": ["step_huge", "step_saved"],
    "aligned": ["step_aligned", "step_saved", "step_aligned_dynamic", "step_plain"],
    "arguments": ["step_arguments", "step_saved"],
}


def frames_of(shape, depth):
    """main and all that it calls, leaf_spin left out."""
    cycle = CYCLES[shape]
    frames = ["main"]
    for at in range(depth, 0, -1):
        frames.append(cycle[at % len(cycle)])
        if frames[-1] == "step_arguments":
            frames.append("many_arguments")
    return tuple(frames)


def is_exact_from_main(stack, frames):
    return "main" in stack.frames and chains.from_function(stack, "main") == (*frames, "leaf_spin")


def is_exact(stack, frames):
    return is_exact_from_main(stack, frames) and chains.root_of_main(stack)


def is_on_the_way(stack, frames):
    """As many of the frames as there were just then."""
    if "main" not in stack.frames or not chains.root_of_main(stack):
        return False
    seen = chains.from_function(stack, "main")
    return seen == frames[:len(seen)] or seen == (*frames, "leaf_spin")


def deep_stack(bytes_of_stack=1 << 30):
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (bytes_of_stack if hard < 0 else min(bytes_of_stack, hard), hard))
