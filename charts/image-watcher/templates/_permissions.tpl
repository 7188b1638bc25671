{{- /* The rules of files in files/permissions, with the reason of each. */}}
{{- define "image-watcher.rules" -}}
{{- range .files }}
{{ $.context.Files.Get (printf "files/permissions/%s.yaml" .) }}
{{- end }}
{{- end }}

{{- /* A (Cluster)Role with rules and its binding to a service account: name, account, rules; namespace for a Role. */}}
{{- define "image-watcher.grant" -}}
{{- $kind := ternary "Role" "ClusterRole" (hasKey . "namespace") }}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata: {{- include "image-watcher.grantMetadata" . | nindent 2 }}
rules:
  {{- .rules | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata: {{- include "image-watcher.grantMetadata" . | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ .name }}}
subjects:
  - {kind: ServiceAccount, name: {{ .account }}, namespace: {{ .context.Release.Namespace }}}
{{- end }}

{{- define "image-watcher.grantMetadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels: {{- include "image-watcher.labels" .context | nindent 2 }}
{{- with .annotations }}
annotations: {{- . | nindent 2 }}
{{- end }}
{{- end }}
