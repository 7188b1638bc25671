{{- define "image-watcher.name" -}}
{{ .Values.nameOverride | default .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "image-watcher.selector" -}}
app.kubernetes.io/name: image-watcher
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "image-watcher.labels" -}}
{{ include "image-watcher.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "image-watcher.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end }}
{{- end }}

{{- define "image-watcher.ownImage" -}}
{{ include "image-watcher.image" (merge (dict "tag" (.Values.image.tag | default .Chart.AppVersion)) .Values.image) }}
{{- end }}

{{- /* The processes, as a list: name, component, roles, and what they need. */}}
{{- define "image-watcher.processes" -}}
{{- $name := include "image-watcher.name" . }}
{{- $convert := ternary (list "convert") (list) .Values.conversion.enabled }}
{{- if eq .Values.mode "together" }}
- {name: {{ $name }}, component: together, roles: {{ concat (list "receive" "work" "web") $convert | toJson }}}
{{- else }}
- {name: {{ $name }}-receive, component: receive, roles: [receive]}
- {name: {{ $name }}-work, component: work, roles: [work]}
{{- if .Values.conversion.enabled }}
- {name: {{ $name }}-convert, component: convert, roles: [convert]}
{{- end }}
{{- if .Values.web.enabled }}
- {name: {{ $name }}-web, component: web, roles: [web]}
{{- end }}
{{- end }}
{{- end }}

{{- /* The service account of a role. */}}
{{- define "image-watcher.accountOf" -}}
{{- $name := include "image-watcher.name" .context }}
{{- if eq .context.Values.mode "together" }}{{ $name }}{{ else }}{{ $name }}-{{ .role }}{{ end }}
{{- end }}

{{- define "image-watcher.ownCertificates" -}}
{{- if and .Values.conversion.enabled (eq .Values.conversion.certificates "own") }}true{{ end }}
{{- end }}

{{- /* Says what does not go together, before anything is made. */}}
{{- define "image-watcher.check" -}}
{{- $watched := dig "watch" "namespaces" (list) .Values.config }}
{{- if and (not .Values.permissions.clusterWide) (not $watched) }}
{{- fail "permissions.clusterWide: false needs config.watch.namespaces: the namespaces in which it may do something" }}
{{- end }}
{{- if and $watched (dig "watch" "namespaceSelector" dict .Values.config) }}
{{- fail "config.watch.namespaceSelector contradicts config.watch.namespaces, with which no labels of namespaces are read: remove one of them" }}
{{- end }}
{{- if and (not .Values.permissions.clusterWide) .Values.definition.manage }}
{{- fail "permissions.clusterWide: false makes no ClusterRole, and the CustomResourceDefinition needs one: say definition.manage: false, and let an administrator run \"image-watcher crd apply\"" }}
{{- end }}
{{- if and (not .Values.permissions.clusterWide) (include "image-watcher.ownCertificates" .) }}
{{- fail "permissions.clusterWide: false makes no ClusterRole, and an own authority has to be written into the CustomResourceDefinition: say conversion.enabled: false, or conversion.certificates: cert-manager" }}
{{- end }}
{{- if and .Values.definition.manage (not .Values.conversion.enabled) }}
{{- fail "definition.manage: true installs a definition with both versions, which needs the conversion webhook: say conversion.enabled: true, or definition.manage: false" }}
{{- end }}
{{- if and .Values.conversion.enabled (eq .Values.conversion.certificates "cert-manager") (not .Values.conversion.issuerRef.name) }}
{{- fail "conversion.certificates: cert-manager needs conversion.issuerRef.name" }}
{{- end }}
{{- if and (ne .Values.mode "separate") (or .Values.autoscaling.receive.enabled .Values.autoscaling.work.enabled) }}
{{- fail "autoscaling is for mode: separate, where receivers and workers are scaled on their own" }}
{{- end }}
{{- if and .Values.autoscaling.work.enabled (not .Values.redis.embedded.enabled) (not .Values.autoscaling.work.redis) }}
{{- fail "autoscaling.work needs autoscaling.work.redis: how KEDA reaches your Redis" }}
{{- end }}
{{- if and (not .Values.redis.embedded.enabled) (not .Values.redis.external.secretName) (not (dig "redis" "url" "" .Values.config)) }}
{{- fail "redis.embedded.enabled: false needs a Redis: redis.external.secretName, or config.redis.url" }}
{{- end }}
{{- if and .Values.web.enabled (gt (int .Values.web.replicas) 1) (not (dig "dashboard" "sessionSecret" dict .Values.config)) }}
{{- fail "web.replicas: a session of one replica is known to the others only with config.dashboard.sessionSecret" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.enabled: true needs ingress.host" }}
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
{{- fail "httpRoute.enabled: true needs httpRoute.parentRefs: the Gateway" }}
{{- end }}
{{- end }}
