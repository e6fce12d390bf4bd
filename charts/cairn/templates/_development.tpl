{{/* A Service and a StatefulSet of one pod that keeps something: (list $ settings). */}}
{{- define "cairn.developmentStore" -}}
{{- $root := index . 0 -}}{{- $store := index . 1 -}}
{{- $name := printf "%s-%s" (include "cairn.fullname" $root) $store.name }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "cairn.labels" (list $root $store.name) | nindent 4 }}
spec:
  clusterIP: None
  selector:
    {{- include "cairn.selector" (list $root $store.name) | nindent 4 }}
  ports:
    - {name: {{ $store.name }}, port: {{ $store.port }}, targetPort: {{ $store.port }}, protocol: TCP}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "cairn.labels" (list $root $store.name) | nindent 4 }}
  annotations:
    # Both images have their files belong to user 999.
    kube-score/ignore: container-security-context-user-group-id
spec:
  serviceName: {{ $name }}
  replicas: 1
  selector:
    matchLabels:
      {{- include "cairn.selector" (list $root $store.name) | nindent 6 }}
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}
  template:
    metadata:
      labels:
        {{- include "cairn.selector" (list $root $store.name) | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 999
        runAsGroup: 999
        fsGroup: 999
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: {{ $store.name }}
          image: {{ $store.image }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          {{- with $store.args }}
          args:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $store.env }}
          env:
            {{- range $variable, $value := . }}
            - {name: {{ $variable }}, value: {{ $value | quote }}}
            {{- end }}
          {{- end }}
          ports:
            - {name: {{ $store.name }}, containerPort: {{ $store.port }}}
          readinessProbe:
            {{- toYaml $store.probe | nindent 12 }}
            periodSeconds: 5
            timeoutSeconds: 5
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            runAsNonRoot: true
            runAsUser: 999
            runAsGroup: 999
            capabilities: {drop: [ALL]}
            seccompProfile: {type: RuntimeDefault}
          resources:
            requests: {cpu: 100m, memory: 256Mi, ephemeral-storage: 64Mi}
            limits: {memory: 1Gi, ephemeral-storage: 1Gi}
          volumeMounts:
            - {name: data, mountPath: {{ $store.data }}}
            - {name: secrets, mountPath: /run/secrets/stores, readOnly: true}
            {{- range $i, $folder := $store.scratch }}
            - {name: scratch, mountPath: {{ $folder }}, subPath: scratch-{{ $i }}}
            {{- end }}
      volumes:
        - name: scratch
          emptyDir: {}
        - name: secrets
          secret:
            secretName: {{ include "cairn.fullname" $root }}-stores
            defaultMode: 0440
            items:
              - {key: {{ $store.item }}, path: {{ $store.item }}}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        resources:
          requests:
            storage: {{ $root.Values.development.size }}
{{- end -}}
