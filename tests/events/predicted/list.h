/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A build for tests that finds no place where a task is back on its CPU, as on AArch64 before 6.4: no kernel has these (agent/sample/switch_return.c). So it decides
 * of waits when they begin (bpf/events/predicted.bpf.h).
 */
#define SWITCH_RETURN_TRACEPOINT "no_such_tracepoint"
#define SWITCH_RETURN_FUNCTION "no_such_function"
