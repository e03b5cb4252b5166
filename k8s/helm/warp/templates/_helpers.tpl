{{- /* With a run of 20 letters, a StatefulSet may have no longer name: its pods have labels of it and of a hash. */ -}}
{{- define "warp.name" -}}{{ .Release.Name | replace "." "-" | trunc 24 | trimSuffix "-" }}{{- end -}}
{{- define "warp.run" -}}{{ default (toString .Release.Revision) .Values.run }}{{- end -}}
{{- define "warp.labels" -}}
app.kubernetes.io/name: warp
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "warp.image" -}}{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}{{- end -}}
{{- define "warp.tokenSecret" -}}{{ default (printf "%s-token" (include "warp.name" .)) .Values.clients.existingTokenSecret }}{{- end -}}
{{- define "warp.storeSecret" -}}{{ default (printf "%s-store" (include "warp.name" .)) .Values.store.existingSecret }}{{- end -}}
{{- define "warp.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- define "warp.container" -}}
image: {{ include "warp.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
workingDir: /data
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}
{{- define "warp.tokenEnv" -}}
- name: WARP_CLIENT_TOKEN
  valueFrom: {secretKeyRef: {name: {{ include "warp.tokenSecret" . }}, key: token}}
{{- end -}}

{{- define "warp.egress" -}}
{{- with .Values.egress -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{ toYaml . }}
{{- else -}}
- {}
{{- end }}
{{- end -}}
