{{/* What cannot be installed is said here, before anything is. Included once, by deployment.yaml. */}}
{{- define "hpa-adapter.checks" -}}
{{- if not .Values.prometheus.url -}}
{{- fail "prometheus.url is required: the address of your Prometheus as pods reach it, for example --set prometheus.url=http://prometheus-operated.monitoring.svc (the port is prometheus.port, 9090)" -}}
{{- end -}}
{{- if not (regexMatch "^(https?://|[$][(])" (tpl .Values.prometheus.url .)) -}}
{{- fail (printf "prometheus.url: %q begins neither with http:// or https://, nor with $(NAME) of a variable in env" .Values.prometheus.url) -}}
{{- end -}}
{{- if .Values.rules.external -}}
{{- fail "rules.external: this version does not serve external.metrics.k8s.io yet. Leave it empty; what needs it can stay with prometheus-adapter, which may run beside this" -}}
{{- end -}}
{{- if .Values.rules.resource -}}
{{- fail "rules.resource: this version does not serve metrics.k8s.io yet. Leave it empty; metrics-server serves CPU and memory" -}}
{{- end -}}
{{- if and .Values.rules.existing (or .Values.rules.custom .Values.rules.default) -}}
{{- fail "rules.existing: the rules come from that ConfigMap or from rules.custom and rules.default, not from both" -}}
{{- end -}}
{{- if not (or .Values.rules.shipped (include "hpa-adapter.rules" .)) -}}
{{- fail "rules: there are none. Set rules.shipped, rules.custom or rules.existing" -}}
{{- end -}}
{{- $ways := list -}}
{{- if .Values.certManager.enabled }}{{ $ways = append $ways "certManager.enabled" }}{{ end -}}
{{- if .Values.tls.enable }}{{ $ways = append $ways "tls.enable" }}{{ end -}}
{{- if .Values.tls.existingSecret }}{{ $ways = append $ways "tls.existingSecret" }}{{ end -}}
{{- if gt (len $ways) 1 -}}
{{- fail (printf "%s: choose one way to a certificate, or none of them for one that the adapter makes itself" (join " and " $ways)) -}}
{{- end -}}
{{- if and .Values.tls.enable (not (and .Values.tls.ca .Values.tls.certificate .Values.tls.key)) -}}
{{- fail "tls.enable: tls.ca, tls.certificate and tls.key are needed, each as PEM" -}}
{{- end -}}
{{- if and .Values.tls.existingSecret .Values.apiService.create (not (or .Values.tls.ca .Values.apiService.annotations)) -}}
{{- fail "tls.existingSecret: give tls.ca, what the API server is to check the certificate against, or an annotation in apiService.annotations that has it injected" -}}
{{- end -}}
{{- if and (eq (include "hpa-adapter.certificate" .) "self-managed") (not .Values.rbac.create) -}}
{{- fail "rbac.create=false: without rights to its Secret the adapter can't keep a certificate of its own. Choose certManager.enabled, tls.enable or tls.existingSecret" -}}
{{- end -}}
{{- if and .Values.podDisruptionBudget.enabled (ne (toString .Values.podDisruptionBudget.minAvailable) "<nil>") (ne (toString .Values.podDisruptionBudget.maxUnavailable) "<nil>") -}}
{{- fail "podDisruptionBudget: minAvailable or maxUnavailable, not both; with minAvailable set maxUnavailable to null" -}}
{{- end -}}
{{- if and .Values.networkPolicy.ingressFrom (not .Values.networkPolicy.apiServer) -}}
{{- fail "networkPolicy.ingressFrom: without networkPolicy.apiServer the API server would be locked out" -}}
{{- end -}}
{{- end -}}
