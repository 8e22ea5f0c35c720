{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- define "xagent.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "xagent.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "xagent.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* What a DaemonSet selects by: never another one for the same release. */ -}}
{{- define "xagent.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "xagent.labels" -}}
{{ include "xagent.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* Whether only the pod itself, and kubectl port-forward, reach listenAddress: "true" or nothing. */ -}}
{{- define "xagent.isLocal" -}}
{{- if or (eq .Values.listenAddress "127.0.0.1") (eq .Values.listenAddress "[::1]") (eq .Values.listenAddress "localhost") -}}
true
{{- end -}}
{{- end -}}
