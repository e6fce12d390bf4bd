{{- define "cairn.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "cairn.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* What a pod of any kind begins with: (list $ values). */}}
{{- define "cairn.podBasics" -}}
{{- $root := index . 0 -}}{{- $values := index . 1 -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "cairn.podSecurity" $root | nindent 2 }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* A container of Cairn up to its resources: (list $ name args file-of-settings listens). */}}
{{- define "cairn.container" -}}
{{- $root := index . 0 -}}
- name: {{ index . 1 }}
  image: {{ include "cairn.image" $root }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  args:
    {{- range index . 2 }}
    - {{ . | quote }}
    {{- end }}
  securityContext:
    {{- include "cairn.containerSecurity" $root | nindent 4 }}
  env:
    - {name: CAIRN_CONFIG, value: /etc/cairn/{{ index . 3 }}}
    - {name: CAIRN_DATA_DIR, value: /data}
    {{- range $what, $port := index . 4 }}
    - {name: CAIRN_{{ upper $what }}_LISTEN, value: ":{{ $port }}"}
    {{- end }}
    {{- with include "cairn.secretEnv" $root | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with $root.Values.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $root.Values.extraEnvFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "cairn.secretEnv" -}}
{{- $secret := include "cairn.secretName" . -}}
{{- range $variable, $key := .Values.secrets.env }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef: {name: {{ $secret }}, key: {{ $key | quote }}}
{{- end }}
{{- range $variable, $key := .Values.secrets.files }}
- {name: {{ $variable }}, value: {{ printf "/run/secrets/cairn/%s" $key | quote }}}
{{- end }}
{{- if .Values.development.stores }}
- {name: CAIRN_REDIS_URL_FILE, value: /run/secrets/stores/redis-url}
- {name: CAIRN_POSTGRES_URL_FILE, value: /run/secrets/stores/postgres-url}
{{- end }}
{{- end -}}

{{- define "cairn.mounts" -}}
- {name: config, mountPath: /etc/cairn, readOnly: true}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
{{- if .Values.secrets.files }}
- {name: secrets, mountPath: /run/secrets/cairn, readOnly: true}
{{- end }}
{{- if .Values.development.stores }}
- {name: stores, mountPath: /run/secrets/stores, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The volumes of a pod: (list $ name-of-ConfigMap). */}}
{{- define "cairn.volumes" -}}
{{- $root := index . 0 -}}
- name: config
  configMap: {name: {{ index . 1 }}}
- name: tmp
  emptyDir: {}
- name: data
  {{- if eq $root.Values.mode "single" }}
  persistentVolumeClaim: {claimName: {{ include "cairn.claimName" $root }}}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- with $root.Values.secrets.files }}
- name: secrets
  secret:
    secretName: {{ include "cairn.secretName" $root }}
    defaultMode: 0440
    items:
      {{- range $key := values . | uniq | sortAlpha }}
      - {key: {{ $key | quote }}, path: {{ $key | quote }}}
      {{- end }}
{{- end }}
{{- if $root.Values.development.stores }}
- name: stores
  secret:
    secretName: {{ include "cairn.fullname" $root }}-stores
    defaultMode: 0440
    items:
      - {key: redis-url, path: redis-url}
      - {key: postgres-url, path: postgres-url}
{{- end }}
{{- with $root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The pod runs where the one pod of mode single does, whose volume one node has. */}}
{{- define "cairn.besideSingle" -}}
podAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          {{- include "cairn.selector" (list . "single") | nindent 10 }}
{{- end -}}
