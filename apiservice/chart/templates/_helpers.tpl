{{/* The chart's name in labels. */}}
{{- define "hpa-adapter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* What every object is called: the release's name where that says it already. */}}
{{- define "hpa-adapter.fullname" -}}
{{- $name := include "hpa-adapter.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "hpa-adapter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "hpa-adapter.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "hpa-adapter.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name: name the account, or let serviceAccount.create be true" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "hpa-adapter.selector" -}}
app.kubernetes.io/name: {{ include "hpa-adapter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* metadata of an object, without its braces: name, labels and the annotations of all. Arguments: context, name, namespaced. */}}
{{- define "hpa-adapter.metadata" -}}
name: {{ .name }}
{{- if .namespace }}
namespace: {{ .namespace }}
{{- end }}
labels:
  {{- include "hpa-adapter.selector" .context | nindent 2 }}
  app.kubernetes.io/component: metrics-adapter
  app.kubernetes.io/version: {{ .context.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .context.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .context.Chart.Name .context.Chart.Version | replace "+" "_" }}
  {{- with merge (dict) (.labels | default dict) .context.Values.customLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .context.Values.customAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The account as the subject of a binding. */}}
{{- define "hpa-adapter.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "hpa-adapter.account" . }}
  namespace: {{ include "hpa-adapter.namespace" . }}
{{- end -}}

{{/* Which of the four ways the certificate comes. */}}
{{- define "hpa-adapter.certificate" -}}
{{- if .Values.certManager.enabled -}}cert-manager
{{- else if .Values.tls.enable -}}values
{{- else if .Values.tls.existingSecret -}}existing
{{- else -}}self-managed
{{- end -}}
{{- end -}}

{{- define "hpa-adapter.secret" -}}
{{- default (printf "%s-cert" (include "hpa-adapter.fullname" .)) .Values.tls.existingSecret -}}
{{- end -}}

{{/* Whether there are rules in a ConfigMap of ours, and what that is called. */}}
{{- define "hpa-adapter.rules" -}}
{{- if .Values.rules.existing -}}
{{- .Values.rules.existing -}}
{{- else if or .Values.rules.custom .Values.rules.default -}}
{{- include "hpa-adapter.fullname" . -}}-rules
{{- end -}}
{{- end -}}

{{/* The backend's address: port and path put behind the URL. An address that comes from `env` stays as it is. */}}
{{- define "hpa-adapter.prometheusUrl" -}}
{{- $url := tpl .Values.prometheus.url . | trimSuffix "/" -}}
{{- if hasPrefix "$(" $url -}}
{{- $url -}}
{{- else -}}
{{- $parts := urlParse $url -}}
{{- if and .Values.prometheus.port (not (regexMatch ":[0-9]+$" $parts.host)) -}}
{{- $url = urlJoin (set $parts "host" (printf "%s:%v" $parts.host (int .Values.prometheus.port))) -}}
{{- end -}}
{{- $url -}}{{- .Values.prometheus.path -}}
{{- end -}}
{{- end -}}

{{/* The port in it; where that can't be seen, the one of the values. */}}
{{- define "hpa-adapter.prometheusPort" -}}
{{- $url := include "hpa-adapter.prometheusUrl" . -}}
{{- if hasPrefix "$(" $url -}}
{{- default 9090 (int .Values.prometheus.port) -}}
{{- else -}}
{{- $parts := urlParse $url -}}
{{- if regexMatch ":[0-9]+$" $parts.host -}}
{{- regexFind "[0-9]+$" $parts.host -}}
{{- else -}}
{{- ternary "443" "80" (eq $parts.scheme "https") -}}
{{- end -}}
{{- end -}}
{{- end -}}
