/* SPDX-License-Identifier: Apache-2.0 */
/* The runtimes of a build for tests, included before everything else of it (bpf/runtimes.h). */
#define RUNTIMES(X, what) X(what, TOY, toy)
#define RUNTIMES_INCLUDE "tests/runtimes/toy/toy.bpf.h"
