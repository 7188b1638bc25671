{{- /* The configuration file: what the chart knows, and over it what the user says. */}}
{{- define "image-watcher.config" -}}
{{- $own := dict "listen" (dict "port" 8080) "operations" (dict "port" 9090) "namespace" .Release.Namespace }}
{{- if .Values.redis.embedded.enabled }}
{{- $url := printf "redis://%s-redis.%s.svc:6379/0" (include "image-watcher.name" .) .Release.Namespace }}
{{- $_ := set $own "redis" (dict "url" $url "password" (dict "file" "/etc/image-watcher-redis/password")) }}
{{- end }}
{{- if .Values.web.enabled }}
{{- $_ := set $own "dashboard" (dict "api" (printf "http://%s-operations.%s.svc:9090" (include "image-watcher.name" .) .Release.Namespace)) }}
{{- end }}
{{- if and .Values.conversion.enabled (eq .Values.conversion.certificates "cert-manager") }}
{{- $_ := set $own "conversion" (dict "certFile" "/etc/image-watcher-conversion/tls.crt" "keyFile" "/etc/image-watcher-conversion/tls.key") }}
{{- end }}
{{- if not .Values.permissions.clusterWide }}
{{- $_ := set $own "credentials" (dict "secret" (dict "namespace" .Release.Namespace)) }}
{{- end }}
{{- if and .Values.permissions.clusterWide .Values.admissionPolicy.enabled }}
{{- $_ := set $own "admissionPolicy" true }}
{{- end }}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.config)) }}
{{- end }}

{{- /* The Secret with the password of the embedded Redis, and its key. */}}
{{- define "image-watcher.redisSecret" -}}
{{- with .Values.redis.embedded.password -}}
secretName: {{ .secretName | default (printf "%s-redis" (include "image-watcher.name" $)) }}
items: [{key: {{ ternary .key "password" (ne .secretName "") }}, path: password}]
{{- end }}
{{- end }}
