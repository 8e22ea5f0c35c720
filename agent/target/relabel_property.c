/* SPDX-License-Identifier: Apache-2.0 */
/* Names of Unicode's categories and scripts, as RE2 takes them and as PCRE2 does. */
#include "agent/target/relabel_parser.h"

#include <ctype.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Cases, blanks, '-' and '_' do not matter. */
struct category {
	const char *name;
	const char *pcre2;
};

static const struct category categories[] = {
	{ "any", "Any" },
	{ "ascii", "ASCII" },
	{ "assigned", "Assigned" },
	{ "c", "C" },
	{ "casedletter", "L&" },
	{ "cc", "Cc" },
	{ "cf", "Cf" },
	{ "closepunctuation", "Pe" },
	{ "cn", "Cn" },
	{ "cntrl", "Cc" },
	{ "co", "Co" },
	{ "combiningmark", "M" },
	{ "connectorpunctuation", "Pc" },
	{ "control", "Cc" },
	{ "cs", "Cs" },
	{ "currencysymbol", "Sc" },
	{ "dashpunctuation", "Pd" },
	{ "decimalnumber", "Nd" },
	{ "digit", "Nd" },
	{ "enclosingmark", "Me" },
	{ "finalpunctuation", "Pf" },
	{ "format", "Cf" },
	{ "initialpunctuation", "Pi" },
	{ "l", "L" },
	{ "lc", "L&" },
	{ "letter", "L" },
	{ "letternumber", "Nl" },
	{ "lineseparator", "Zl" },
	{ "ll", "Ll" },
	{ "lm", "Lm" },
	{ "lo", "Lo" },
	{ "lowercaseletter", "Ll" },
	{ "lt", "Lt" },
	{ "lu", "Lu" },
	{ "m", "M" },
	{ "mark", "M" },
	{ "mathsymbol", "Sm" },
	{ "mc", "Mc" },
	{ "me", "Me" },
	{ "mn", "Mn" },
	{ "modifierletter", "Lm" },
	{ "modifiersymbol", "Sk" },
	{ "n", "N" },
	{ "nd", "Nd" },
	{ "nl", "Nl" },
	{ "no", "No" },
	{ "nonspacingmark", "Mn" },
	{ "number", "N" },
	{ "openpunctuation", "Ps" },
	{ "other", "C" },
	{ "otherletter", "Lo" },
	{ "othernumber", "No" },
	{ "otherpunctuation", "Po" },
	{ "othersymbol", "So" },
	{ "p", "P" },
	{ "paragraphseparator", "Zp" },
	{ "pc", "Pc" },
	{ "pd", "Pd" },
	{ "pe", "Pe" },
	{ "pf", "Pf" },
	{ "pi", "Pi" },
	{ "po", "Po" },
	{ "privateuse", "Co" },
	{ "ps", "Ps" },
	{ "punct", "P" },
	{ "punctuation", "P" },
	{ "s", "S" },
	{ "sc", "Sc" },
	{ "separator", "Z" },
	{ "sk", "Sk" },
	{ "sm", "Sm" },
	{ "so", "So" },
	{ "spaceseparator", "Zs" },
	{ "spacingmark", "Mc" },
	{ "surrogate", "Cs" },
	{ "symbol", "S" },
	{ "titlecaseletter", "Lt" },
	{ "unassigned", "Cn" },
	{ "uppercaseletter", "Lu" },
	{ "z", "Z" },
	{ "zl", "Zl" },
	{ "zp", "Zp" },
	{ "zs", "Zs" },
};

/* PCRE2 also knows each script by an abbreviation of four letters, RE2 does not; these are names. */
static const char *const short_scripts[] = {
	"ahom", "cham", "kawi", "lisu", "miao", "modi", "newa", "thai", "toto",
};

static bool canonical(const char *name, size_t n, char *ret_name, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (strchr("-_ ", name[i]))
			continue;
		if (at + 1 >= size || !isalpha((unsigned char)name[i]))
			return false;
		ret_name[at++] = (char)tolower((unsigned char)name[i]);
	}
	ret_name[at] = '\0';
	return at > 0;
}

static bool is_abbreviation(const char *name)
{
	if (strlen(name) != 4)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(short_scripts); i++)
		if (strcmp(name, short_scripts[i]) == 0)
			return false;
	return true;
}

/* Whether PCRE2 knows it; the scripts of a character alone, not those it may be used with. */
static bool is_script(const char *name, char *ret_name, size_t size)
{
	char pattern[80];
	int code;
	size_t at;

	(void)snprintf(ret_name, size, "sc:%s", name);
	(void)snprintf(pattern, sizeof(pattern), "\\p{%s}", ret_name);
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code,
				       &at, NULL);
	pcre2_code_free(re);
	return re != NULL;
}

bool parser_property(const char *name, size_t n, char *ret_name, size_t size)
{
	char known[48];

	if (!canonical(name, n, known, sizeof(known)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(categories); i++)
		if (strcmp(categories[i].name, known) == 0) {
			(void)snprintf(ret_name, size, "%s", categories[i].pcre2);
			return true;
		}
	return !is_abbreviation(known) && strcmp(known, "unknown") != 0 &&
	       is_script(known, ret_name, size);
}
