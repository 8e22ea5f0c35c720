/* SPDX-License-Identifier: Apache-2.0 */
/* Which name servers to ask, and what to put behind a short name. */
#include "agent/discovery/dns_config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/util/file.h"

#define DNS_PORT 53
#define THIS_HOST "127.0.0.1"
/* The most that resolv.conf(5) allows; more dots than that no search list waits for. */
#define MAX_NDOTS 15
/* Three servers and a search list have a few hundred bytes. */
#define CONFIG_MAX_BYTES ((size_t)64 << 10)

static bool is_address(const char *text)
{
	char address[DNS_SERVER_BYTES];
	struct in6_addr ip;

	(void)snprintf(address, sizeof(address), "%.*s", (int)strcspn(text, "%"), text);
	return inet_pton(AF_INET, text, &ip) == 1 || inet_pton(AF_INET6, address, &ip) == 1;
}

/* The next word; blanks and tabs are between words. */
static bool take_word(struct str *line, char *word, size_t n_word)
{
	size_t n = 0;

	while (line->n > 0 && (*line->p == ' ' || *line->p == '\t' || *line->p == '\r')) {
		line->p++;
		line->n--;
	}
	while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t' && line->p[n] != '\r')
		n++;
	if (n == 0 || n >= n_word)
		return false;
	memcpy(word, line->p, n);
	word[n] = '\0';
	line->p += n;
	line->n -= n;
	return true;
}

static void take_server(struct dns_config *c, struct str *rest)
{
	char *server = c->servers[c->n_servers];

	if (c->n_servers < DNS_MAX_SERVERS && take_word(rest, server, DNS_SERVER_BYTES) &&
	    is_address(server))
		c->n_servers++;
}

/* The last of these lines counts. */
static void take_search(struct dns_config *c, struct str *rest, size_t max)
{
	c->n_search = 0;
	while (c->n_search < max && take_word(rest, c->search[c->n_search], sizeof(c->search[0]))) {
		char *dots = c->search[c->n_search];
		size_t n = strlen(dots);

		while (n > 0 && dots[n - 1] == '.')
			dots[--n] = '\0';
		c->n_search += n > 0;
	}
}

static void take_options(struct dns_config *c, struct str *rest)
{
	static const char ndots[] = "ndots:";
	char word[128];

	while (take_word(rest, word, sizeof(word))) {
		uint64_t n = 0;

		if (strncmp(word, ndots, sizeof(ndots) - 1) != 0)
			continue;
		if (str_parse_u64(str_from(word + sizeof(ndots) - 1), 10, UINT32_MAX, &n) == 0)
			c->ndots = n < MAX_NDOTS ? (unsigned int)n : MAX_NDOTS;
	}
}

static void take_line(struct dns_config *c, struct str line)
{
	char word[128];

	if (line.n == 0 || *line.p == '#' || *line.p == ';' ||
	    !take_word(&line, word, sizeof(word)))
		return;
	if (strcmp(word, "nameserver") == 0)
		take_server(c, &line);
	else if (strcmp(word, "search") == 0)
		take_search(c, &line, DNS_MAX_SEARCH);
	else if (strcmp(word, "domain") == 0)
		take_search(c, &line, 1);
	else if (strcmp(word, "options") == 0)
		take_options(c, &line);
}

void dns_config_read(struct str text, struct dns_config *ret_config)
{
	struct str line;

	*ret_config = (struct dns_config){ .port = DNS_PORT, .ndots = 1 };
	while (str_split(&text, '\n', &line))
		take_line(ret_config, line);
	if (ret_config->n_servers == 0) {
		memcpy(ret_config->servers[0], THIS_HOST, sizeof(THIS_HOST));
		ret_config->n_servers = 1;
	}
}

int dns_config_load(const char *path, struct dns_config *ret_config)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
	int r = file_read(AT_FDCWD, path, &text);

	dns_config_read((struct str){ buf_str(&text), r == 0 ? text.len : 0 }, ret_config);
	return r;
}

static size_t count_dots(const char *name)
{
	size_t n = 0;

	for (; *name; name++)
		n += *name == '.';
	return n;
}

bool dns_config_candidate(const struct dns_config *c, const char *name, size_t i, char *text,
			  size_t n_text)
{
	size_t n = strlen(name);
	bool full = n > 0 && name[n - 1] == '.';
	size_t i_own = !full && count_dots(name) < c->ndots ? c->n_search : 0;

	assert(n_text > 0);
	if (i > (full ? 0 : c->n_search))
		return false;
	if (i == i_own)
		(void)snprintf(text, n_text, "%s", name);
	else
		(void)snprintf(text, n_text, "%s.%s", name, c->search[i < i_own ? i : i - 1]);
	return true;
}
