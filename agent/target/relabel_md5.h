/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 (RFC 1321), for the action hashmod: it spreads targets, it protects nothing. Pure. */
#ifndef XAGENT_AGENT_TARGET_RELABEL_MD5_H
#define XAGENT_AGENT_TARGET_RELABEL_MD5_H

#include <stddef.h>
#include <stdint.h>

#define RELABEL_MD5_BYTES 16

void relabel_md5(const void *bytes, size_t n, uint8_t ret_digest[RELABEL_MD5_BYTES]);

#endif
