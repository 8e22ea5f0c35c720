/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of an OTLP request: a resource, made of the labels, before the bytes of the profile's form (agent/encode/otlp_form.h), which are
 * borrowed also where they are gzip'd: what stands before them goes into the same member of gzip as blocks that are not compressed.
 */
#ifndef XAGENT_AGENT_PUSH_OTLP_BODY_H
#define XAGENT_AGENT_PUSH_OTLP_BODY_H

#include <stdbool.h>

#include "agent/push/body.h"
#include "agent/push/profile.h"

/* `gzip`: the form is, and the body will be. `framed`: five bytes before it tell gRPC its length. 0; -EINVAL: these are no bytes of that form;
 * -EMSGSIZE: it is longer than a collector takes; -ENOMEM. */
int otlp_body(const struct push_profile *profile, bool gzip, bool framed, struct push_body *body);

#endif
