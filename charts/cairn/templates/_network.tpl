{{/* What may leave a pod of Cairn. */}}
{{- define "cairn.egress" -}}
{{- $policy := .Values.networkPolicy -}}
- to:
    {{- toYaml $policy.dns | nindent 4 }}
  ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
- to:
    {{- toYaml $policy.internet | nindent 4 }}
  ports:
    - {port: 443, protocol: TCP}
{{- range $store := list $policy.redis $policy.postgres }}
- ports:
    {{- range $store.ports }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
  {{- with $store.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
