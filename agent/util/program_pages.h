/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the program and of its libraries that this process has mapped. The dynamic loader and the libraries' constructors go through symbol tables,
 * relocations and code that is never needed again; each page that they touch stays in the process's memory, with fifteen around it.
 */
#ifndef XAGENT_AGENT_UTIL_PROGRAM_PAGES_H
#define XAGENT_AGENT_UTIL_PROGRAM_PAGES_H

/*
 * Takes them out of the process's memory. What is needed again comes back from the page cache when it is touched. Pages that differ from
 * their file (breakpoints, uprobes) stay; where the kernel does not tell these (CONFIG_PROC_PAGE_MONITOR), all do. Any thread.
 */
void program_pages_release(void);

#endif
