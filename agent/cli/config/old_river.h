/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The older profiler's configuration in ours.
 *
 *	MatchTargetComm	    discovery.process → discovery.relabel, by the name of the program's file
 *	MatchTargetPgID	    the process that the group is called by
 *	MatchTargetPidNS    what its container would be; a comment, because a namespace's number is another after each start
 *	anything else	    default_target
 *
 * What that is not quite is said in a warning each. Pure.
 */
#ifndef XAGENT_AGENT_CLI_CONFIG_OLD_RIVER_H
#define XAGENT_AGENT_CLI_CONFIG_OLD_RIVER_H

#include "agent/cli/config/old_yaml.h"

/* Appends the configuration to `out`, warnings to the notes. 0 or -ENOBUFS. */
int old_river_write(const struct old_yaml *y, struct old_notes *notes, struct buf *out);

#endif
