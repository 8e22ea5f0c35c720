/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of OTLP. Resources and what is around them are put before the bytes of a form by who sends it (agent/push), without
 * another look at these:
 *
 *	FORM_OTLP	the field scope_profiles of a ResourceProfiles, then the field dictionary of the request; both have number 2
 *	FORM_OTLP_GZIP	the length of the first, four bytes, the lowest first; then both as one member of gzip
 *	FORM_OTLP_FILE	a whole request
 */
#ifndef XAGENT_AGENT_ENCODE_OTLP_FORM_H
#define XAGENT_AGENT_ENCODE_OTLP_FORM_H

#define OTLP_FORM_RESOURCE_FIELD 1 /* of the request: what is around the first of both */
#define OTLP_FORM_SCOPE_FIELD 2
#define OTLP_FORM_DICTIONARY_FIELD 2
#define OTLP_FORM_HEAD_BYTES 4

#endif
