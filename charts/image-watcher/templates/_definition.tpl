{{- /*
When the Job that applies the definition runs. After an installation: the API server asks the webhook, which has to be there. Before an upgrade where the cluster
has the definition with the webhook already: the new program finds the new fields. Otherwise (also where nothing can be looked up: templates, GitOps) after it, so that a
failed installation can be mended by an upgrade.
*/}}
{{- define "image-watcher.applyHooks" -}}
{{- $crd := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "imagepolicies.operator.technomad.dev" }}
{{- $converts := eq (dig "spec" "conversion" "strategy" "" ($crd | default dict)) "Webhook" }}
{{- printf "post-install,%s" (ternary "pre-upgrade" "post-upgrade" $converts) }}
{{- end }}

{{- define "image-watcher.hook" -}}
helm.sh/hook: {{ .hooks }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: {{ .delete }}
{{- end }}

{{- /* A Job that runs a command of the program: name, hooks, args; account, which is its component too. */}}
{{- define "image-watcher.job" -}}
{{- with .context }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $.name }}
  labels: {{- include "image-watcher.labels" . | nindent 4 }}
  annotations: {{- include "image-watcher.hook" (dict "hooks" $.hooks "weight" 0 "delete" "before-hook-creation,hook-succeeded") | nindent 4 }}
spec:
  backoffLimit: {{ .Values.definition.backoffLimit }}
  template:
    metadata:
      labels:
        {{- include "image-watcher.labels" . | nindent 8 }}
        app.kubernetes.io/component: {{ $.account }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ include "image-watcher.name" . }}-{{ $.account }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      securityContext: {{- toYaml .Values.podSecurityContext | nindent 8 }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: image-watcher
          image: {{ include "image-watcher.ownImage" . }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          args: {{ $.args | toJson }}
          resources: {requests: {cpu: 50m, memory: 96Mi}, limits: {memory: 512Mi}}
          securityContext: {{- toYaml .Values.securityContext | nindent 12 }}
{{- end }}
{{- end }}
