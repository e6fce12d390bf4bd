{{/* Refuses what can't work, and says what to set. */}}
{{- define "cairn.validate" -}}
{{- $secret := include "cairn.secretName" . -}}
{{- if and (or .Values.secrets.env .Values.secrets.files) (not $secret) -}}
{{- fail "secrets.env and secrets.files name keys of a Secret: set secrets.existingSecret to its name, or externalSecret.enabled=true" -}}
{{- end -}}
{{- range $variable, $_ := .Values.secrets.files -}}
{{- if not (hasSuffix "_FILE" $variable) -}}
{{- fail (printf "secrets.files.%s: a variable for a file ends in _FILE; for the value itself use secrets.env" $variable) -}}
{{- end -}}
{{- end -}}
{{- if .Values.externalSecret.enabled -}}
{{- if .Values.secrets.existingSecret -}}
{{- fail "externalSecret.enabled makes the Secret: leave secrets.existingSecret empty, or set externalSecret.enabled=false" -}}
{{- end -}}
{{- if or (not .Values.externalSecret.secretStoreRef.name) (not .Values.externalSecret.data) -}}
{{- fail "externalSecret.enabled: set externalSecret.secretStoreRef to the store and externalSecret.data to what comes from it" -}}
{{- end -}}
{{- if and (eq .Values.migration.run "hook") (include "cairn.hasStore" (list . "postgres")) -}}
{{- fail "migration.run=hook runs before the ExternalSecret is there: set migration.run=init or auto" -}}
{{- end -}}
{{- end -}}
{{- range tuple "slack" "discord" "web" "telemetry" "operations" "webhooks" -}}
{{- if dig . "listen" "" $.Values.config -}}
{{- fail (printf "config.%s.listen: the chart sets it, remove it" .) -}}
{{- end -}}
{{- end -}}
{{- if .Values.config.data_dir -}}
{{- fail "config.data_dir: the chart sets it, remove it" -}}
{{- end -}}
{{- if and (eq (include "cairn.slackMode" .) "off") (eq (include "cairn.discordMode" .) "off") (not .Values.web.enabled) -}}
{{- fail "nothing takes messages in: set config.slack.mode (http or socket), config.discord.mode (gateway or http) or web.enabled=true" -}}
{{- end -}}
{{- if .Values.operations.enabled -}}
{{- $given := or (hasKey .Values.secrets.env "CAIRN_OPERATIONS_TOKEN") (hasKey .Values.secrets.files "CAIRN_OPERATIONS_TOKEN_FILE") -}}
{{- if not (or $given (dig "operations" "oidc_issuer" "" .Values.config)) -}}
{{- fail "operations.enabled: say who may open the page: set secrets.env.CAIRN_OPERATIONS_TOKEN to the key of a token, or config.operations.oidc_issuer and what goes with it" -}}
{{- end -}}
{{- end -}}
{{- include "cairn.validateStores" . -}}
{{- include "cairn.validateSources" . -}}
{{- range $name, $entrance := include "cairn.entrances" . | fromYaml -}}
{{- if and $entrance.values.ingress.enabled (not $entrance.values.ingress.host) -}}
{{- fail (printf "%s.ingress.enabled: set %s.ingress.host" $name $name) -}}
{{- end -}}
{{- if and $entrance.values.httpRoute.enabled (not $entrance.values.httpRoute.parentRefs) -}}
{{- fail (printf "%s.httpRoute.enabled: set %s.httpRoute.parentRefs to your Gateway" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "cairn.validateStores" -}}
{{- if eq .Values.mode "split" -}}
{{- range tuple "redis" "postgres" -}}
{{- if not (include "cairn.hasStore" (list $ .)) -}}
{{- fail (printf "mode split needs a store that the pods share: set secrets.env.CAIRN_%s_URL (or secrets.files.CAIRN_%s_URL_FILE) to the key of secrets.existingSecret that holds the address, or config.%s.url if it has no password; or run everything in one pod with mode=single" (upper .) (upper .) .) -}}
{{- end -}}
{{- end -}}
{{- else if .Values.development.stores -}}
{{- fail "development.stores is for mode split: mode single keeps its data in its volume" -}}
{{- end -}}
{{- if .Values.development.stores -}}
{{- range tuple "redis" "postgres" -}}
{{- $variable := printf "CAIRN_%s_URL" (upper .) -}}
{{- if or (hasKey $.Values.secrets.env $variable) (hasKey $.Values.secrets.files (printf "%s_FILE" $variable)) (dig . "url" "" $.Values.config) -}}
{{- fail (printf "development.stores runs a %s of its own: remove the other address, or set development.stores=false" .) -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.migration.run "hook" -}}
{{- fail "migration.run=hook runs before the database of development.stores is there: set migration.run=init or auto" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.worker.keda.enabled (eq .Values.mode "split") -}}
{{- if .Values.worker.autoscaling.enabled -}}
{{- fail "worker.keda.enabled and worker.autoscaling.enabled both scale the workers: keep one of them" -}}
{{- end -}}
{{- if not .Values.worker.keda.serverAddress -}}
{{- fail "worker.keda.enabled: set worker.keda.serverAddress to your Prometheus, such as http://prometheus.monitoring:9090" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "cairn.validateSources" -}}
{{- range $source := .Values.config.sources -}}
{{- if not $source.name -}}
{{- fail "config.sources: each source needs a name" -}}
{{- end -}}
{{- if and (eq (toString $source.kind) "files") (not $.Values.documents.existingClaim) (not $.Values.ingest.extraVolumes) -}}
{{- fail (printf "source %s reads files: set documents.existingClaim to a claim that holds them, or ingest.extraVolumes and ingest.initContainers to what brings them" $source.name) -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range .Values.config.sources -}}{{- $names = append $names .name -}}{{- end -}}
{{- range $name, $_ := .Values.ingest.schedules -}}
{{- if not (has $name $names) -}}
{{- fail (printf "ingest.schedules.%s: config.sources has no source of that name" $name) -}}
{{- end -}}
{{- end -}}
{{- if and (ge (int .Values.drain.preStopSeconds) (sub (int .Values.drain.terminationGracePeriodSeconds) 30 | int)) -}}
{{- fail "drain.terminationGracePeriodSeconds: Cairn needs more than 30 seconds behind drain.preStopSeconds to save what it works at" -}}
{{- end -}}
{{- end -}}
