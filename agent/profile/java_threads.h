/* SPDX-License-Identifier: Apache-2.0 */
/* What a session keeps of a process with a JVM, so that the kernel half can be told of its threads (java_threads.c). */
#ifndef XAGENT_AGENT_PROFILE_JAVA_THREADS_H
#define XAGENT_AGENT_PROFILE_JAVA_THREADS_H

struct java_vm;

/* NULL-safe. */
void java_vm_free(struct java_vm *vm);

#endif
