{{- define "cairn.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The prefix of every object's name, short enough for what is put behind it. */}}
{{- define "cairn.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "cairn.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What selects all pods of the release. */}}
{{- define "cairn.releaseLabels" -}}
app.kubernetes.io/name: {{ include "cairn.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What selects the pods of one component: (list $ "worker"). */}}
{{- define "cairn.selector" -}}
{{ include "cairn.releaseLabels" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of an object: (list $ "worker"). */}}
{{- define "cairn.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "cairn.selector" . }}
app.kubernetes.io/version: {{ $root.Values.image.tag | default $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: cairn
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "cairn.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "cairn.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "cairn.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* The Secret with tokens and addresses; empty where there is none. */}}
{{- define "cairn.secretName" -}}
{{- if .Values.externalSecret.enabled -}}
{{- include "cairn.fullname" . -}}
{{- else -}}
{{- .Values.secrets.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "cairn.claimName" -}}
{{- .Values.single.persistence.existingClaim | default (printf "%s-data" (include "cairn.fullname" .)) -}}
{{- end -}}

{{- define "cairn.slackMode" -}}{{ dig "slack" "mode" "off" .Values.config }}{{- end -}}
{{- define "cairn.discordMode" -}}{{ dig "discord" "mode" "off" .Values.config }}{{- end -}}

{{/* A database is configured: in config, by a variable or by a file. (list $ "postgres") */}}
{{- define "cairn.hasStore" -}}
{{- $root := index . 0 -}}{{- $store := index . 1 -}}
{{- $variable := printf "CAIRN_%s_URL" (upper $store) -}}
{{- $names := concat (keys $root.Values.secrets.env) (keys $root.Values.secrets.files) -}}
{{- range $root.Values.extraEnv -}}{{- $names = append $names .name -}}{{- end -}}
{{- $inConfig := dig $store dict $root.Values.config -}}
{{- if or $root.Values.development.stores $inConfig.url $inConfig.url_file (has $variable $names) (has (printf "%s_FILE" $variable) $names) -}}
yes
{{- end -}}
{{- end -}}

{{/* How the database is brought up to date: hook, init or off. */}}
{{- define "cairn.migration" -}}
{{- if not (include "cairn.hasStore" (list . "postgres")) -}}
off
{{- else if ne .Values.migration.run "auto" -}}
{{- .Values.migration.run -}}
{{- else if or .Values.development.stores .Values.externalSecret.enabled -}}
init
{{- else -}}
hook
{{- end -}}
{{- end -}}

{{/*
The Deployments that there are, as a map from component to its values with
  roles: what `cairn serve --role` is given
  listens: a map from a port's name to its number
*/}}
{{- define "cairn.parts" -}}
{{- $listens := dict -}}
{{- $roles := list "worker" -}}
{{- if ne (include "cairn.slackMode" .) "off" -}}
{{- $roles = append $roles "slack" -}}
{{- if eq (include "cairn.slackMode" .) "http" -}}{{- $_ := set $listens "slack" 3000 -}}{{- end -}}
{{- end -}}
{{- if ne (include "cairn.discordMode" .) "off" -}}
{{- $roles = append $roles "discord" -}}
{{- if eq (include "cairn.discordMode" .) "http" -}}{{- $_ := set $listens "discord" 3001 -}}{{- end -}}
{{- end -}}
{{- if or .Values.web.enabled .Values.operations.enabled -}}
{{- $roles = append $roles "web" -}}
{{- if .Values.web.enabled -}}{{- $_ := set $listens "web" 8080 -}}{{- end -}}
{{- if .Values.operations.enabled -}}{{- $_ := set $listens "operations" 8081 -}}{{- end -}}
{{- end -}}
{{- if .Values.webhooks.enabled -}}{{- $_ := set $listens "webhooks" 8096 -}}{{- end -}}
{{- $parts := dict -}}
{{- if eq .Values.mode "single" -}}
{{- $_ := set $parts "single" (merge (dict "roles" (join "," $roles) "listens" $listens "replicas" 1) .Values.single) -}}
{{- else -}}
{{- range $role := $roles -}}
{{- $component := ternary "intake" $role (eq $role "slack") -}}
{{- $own := pick $listens $role -}}
{{- if eq $role "web" -}}{{- $own = pick $listens "web" "operations" -}}{{- end -}}
{{- if eq $role "worker" -}}{{- $own = pick $listens "webhooks" -}}{{- end -}}
{{- $_ := set $parts $component (merge (dict "roles" $role "listens" $own) (index $.Values $component)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $parts -}}
{{- end -}}

{{/* The most pods that a part has: (list $component $part). */}}
{{- define "cairn.mostPods" -}}
{{- $part := index . 1 -}}
{{- if dig "keda" "enabled" false $part -}}
{{- $part.keda.maxReplicas -}}
{{- else if dig "autoscaling" "enabled" false $part -}}
{{- $part.autoscaling.maxReplicas -}}
{{- else -}}
{{- $part.replicas -}}
{{- end -}}
{{- end -}}

{{/*
The Services that people and platforms reach, as a map from name to
  component: whose pods stand behind it
  values: its settings, with service, ingress and httpRoute
  path: what of a host leads to it
*/}}
{{- define "cairn.entrances" -}}
{{- $entrances := dict -}}
{{- range $component, $part := include "cairn.parts" . | fromYaml -}}
{{- range $port, $number := $part.listens -}}
{{- $name := ternary "intake" $port (eq $port "slack") -}}
{{- $path := ternary "/" (printf "/%s/" $port) (has $port (list "web" "operations")) -}}
{{- if eq $port "webhooks" -}}{{- $path = "/hooks/" -}}{{- end -}}
{{- $_ := set $entrances $name (dict "component" $component "port" $port "path" $path "values" (index $.Values $name)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $entrances -}}
{{- end -}}

{{/* What the series of this release have in Prometheus, where its ServiceMonitor brought them. */}}
{{- define "cairn.series" -}}
namespace="{{ .Release.Namespace }}",service="{{ include "cairn.fullname" . }}-metrics"
{{- end -}}
