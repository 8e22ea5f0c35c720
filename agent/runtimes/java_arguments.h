/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a method of Java, and what it returns, by its descriptor (JVM specification, 4.3.3), as in Java's own texts. Pure. */
#ifndef XAGENT_AGENT_RUNTIMES_JAVA_ARGUMENTS_H
#define XAGENT_AGENT_RUNTIMES_JAVA_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Appends at to[at …] the types in parentheses, without their packages, and unless it is void what is returned: "(long, String[])" of "(J[Ljava/lang/String;)V", "(): int" of "()I".
 * What is no descriptor, or ends before its parenthesis, has an ellipsis in that place. Returns the new end, n_to at most.
 */
size_t java_arguments(const char *descriptor, size_t n, char *to, size_t at, size_t n_to);

#endif
