/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the API, and the settings of a tenant: answered at once. */
#include "agent/store/api/api_methods.h"
#include "agent/store/api/settings.h"
#include "agent/store/api/tenant.pb-c.h"

#define REQUEST(type, call) ((const Tenant__V1__##type##Request *)(call)->request)
/* Of querier.v1. */
#define QUERIER_API 1

enum rpc_code version_at_once(struct rpc_call *call, struct store *store)
{
	Tenant__V1__VersionResponse response = TENANT__V1__VERSION_RESPONSE__INIT;

	(void)store;
	response.querierapi = QUERIER_API;
	return rpc_call_answer(call, &response.base);
}

static void fill(Tenant__V1__Setting *message, const struct setting *from)
{
	tenant__v1__setting__init(message);
	message->name = from->name;
	message->value = from->value;
	message->modifiedat = from->modified_ms;
}

enum rpc_code get_settings_at_once(struct rpc_call *call, struct store *store)
{
	Tenant__V1__GetSettingsResponse response = TENANT__V1__GET_SETTINGS_RESPONSE__INIT;
	Tenant__V1__Setting messages[SETTINGS_MAX], *pointers[SETTINGS_MAX];

	(void)store;
	for (size_t i = 0; i < call->settings->n; i++) {
		fill(&messages[i], &call->settings->items[i]);
		pointers[i] = &messages[i];
	}
	response.settings = pointers;
	response.n_settings = call->settings->n;
	return rpc_call_answer(call, &response.base);
}

static enum rpc_code answer_set(struct rpc_call *call, const struct setting *setting)
{
	Tenant__V1__SetSettingsResponse response = TENANT__V1__SET_SETTINGS_RESPONSE__INIT;
	Tenant__V1__Setting message;

	fill(&message, setting);
	response.setting = &message;
	return rpc_call_answer(call, &response.base);
}

enum rpc_code set_setting_at_once(struct rpc_call *call, struct store *store)
{
	const Tenant__V1__Setting *asked = REQUEST(SetSettings, call)->setting;

	(void)store;
	if (!asked)
		return api_job_fail(&call->job, RPC_invalid_argument, "no setting values provided");
	const struct setting setting = { asked->name, asked->value,
					 asked->modifiedat > 0 ? asked->modifiedat : call->now_ms };
	int r = settings_set(call->settings, setting.name, setting.value, setting.modified_ms);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	switch ((enum settings_outcome)r) {
	case SETTINGS_SET:
		return answer_set(call, &setting);
	case SETTINGS_NEWER:
		return api_job_fail(&call->job, RPC_already_exists,
				    "failed to update %s: newer update already written",
				    setting.name);
	case SETTINGS_TOO_LONG:
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "a setting has a name of %d bytes and a value of %d at most",
				    SETTINGS_MAX_NAME_BYTES, SETTINGS_MAX_VALUE_BYTES);
	case SETTINGS_FULL:
		break;
	}
	return api_job_fail(&call->job, RPC_resource_exhausted, "there are %d settings already",
			    SETTINGS_MAX);
}

enum rpc_code delete_setting_at_once(struct rpc_call *call, struct store *store)
{
	Tenant__V1__DeleteSettingsResponse response = TENANT__V1__DELETE_SETTINGS_RESPONSE__INIT;
	const char *name = REQUEST(DeleteSettings, call)->name;

	(void)store;
	if (!*name)
		return api_job_fail(&call->job, RPC_invalid_argument, "no setting name provided");
	settings_delete(call->settings, name);
	return rpc_call_answer(call, &response.base);
}
