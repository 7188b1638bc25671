{{- /* The configuration file: what the chart knows, and over it what the user says. */}}
{{- define "image-watcher.config" -}}
{{- $own := dict "listen" (dict "port" 8080) "operations" (dict "port" 9090) "namespace" .Release.Namespace }}
{{- if .Values.redis.embedded.enabled }}
{{- $_ := set $own "redis" (dict "url" (printf "redis://%s-redis.%s.svc:6379/0" (include "image-watcher.name" .) .Release.Namespace)) }}
{{- end }}
{{- if and .Values.conversion.enabled (eq .Values.conversion.certificates "cert-manager") }}
{{- $_ := set $own "conversion" (dict "certFile" "/etc/image-watcher-conversion/tls.crt" "keyFile" "/etc/image-watcher-conversion/tls.key") }}
{{- end }}
{{- if not .Values.permissions.clusterWide }}
{{- $_ := set $own "credentials" (dict "secret" (dict "namespace" .Release.Namespace)) }}
{{- end }}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.config)) }}
{{- end }}

{{- /* The environment by which Redis is found. */}}
{{- define "image-watcher.redisEnv" -}}
{{- with .Values.redis }}
{{- if .embedded.enabled }}
{{- if .embedded.password.secretName }}
- name: REDIS_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ .embedded.password.secretName }}, key: {{ .embedded.password.key }}}}
- name: REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "image-watcher.name" $ }}-redis.{{ $.Release.Namespace }}.svc:6379/0
{{- end }}
{{- else if .external.secretName }}
- name: REDIS_URL
  valueFrom: {secretKeyRef: {name: {{ .external.secretName }}, key: {{ .external.key }}}}
{{- end }}
{{- end }}
{{- end }}
