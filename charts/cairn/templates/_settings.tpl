{{/* The files of settings: cairn.yaml, and for each source one that has it alone. */}}
{{- define "cairn.settings" -}}
cairn.yaml: |
  {{- toYaml .Values.config | nindent 2 }}
{{- range $source := .Values.config.sources }}
ingest-{{ $source.name }}.yaml: |
  {{- toYaml (merge (dict "sources" (list $source)) (omit $.Values.config "sources")) | nindent 2 }}
{{- end }}
{{- end -}}
