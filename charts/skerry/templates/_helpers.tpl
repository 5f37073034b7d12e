{{- define "skerry.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "skerry.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "skerry.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* For objects without a namespace: two releases in two namespaces must not share them. */ -}}
{{- define "skerry.clusterName" -}}
{{- if eq .Release.Namespace (include "skerry.fullname" .) -}}
{{- include "skerry.fullname" . -}}
{{- else -}}
{{- printf "%s-%s" (include "skerry.fullname" .) .Release.Namespace | trunc 100 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "skerry.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (printf "%s-operator" (include "skerry.fullname" .)) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is required when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "skerry.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
app.kubernetes.io/name: {{ include "skerry.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: skerry
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end -}}

{{- define "skerry.selectorLabels" -}}
app.kubernetes.io/name: {{ include "skerry.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
skerry.dev/component: operator
{{- end -}}

{{- /* Reference of an image: (dict "root" $ "image" .Values.images.operator) */ -}}
{{- define "skerry.image" -}}
{{- $registry := .root.Values.images.registry | trimSuffix "/" -}}
{{- $name := ternary .image.repository (printf "%s/%s" $registry .image.repository) (empty $registry) -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .root.Chart.AppVersion .image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "skerry.signingSecret" -}}
{{- default "skerry-signing-key" .Values.signingKey.existingSecret -}}
{{- end -}}

{{- /*
Where the API server answers, as JSON {"cidrs": [...], "ports": [...]}: as given, else the Service `kubernetes`
and its endpoints (policies are judged on one or the other, by enforcer). Rendered without a cluster it must be given.
*/ -}}
{{- define "skerry.apiServer" -}}
{{- $cidrs := .Values.apiServer.cidrs -}}
{{- $ports := .Values.apiServer.ports -}}
{{- if not $cidrs -}}
{{- $addresses := list -}}
{{- $found := list -}}
{{- $service := lookup "v1" "Service" "default" "kubernetes" -}}
{{- with $service -}}
{{- $addresses = concat $addresses (default (list .spec.clusterIP) .spec.clusterIPs) -}}
{{- range .spec.ports -}}{{- $found = append $found (int .port) -}}{{- end -}}
{{- end -}}
{{- $slices := lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "" -}}
{{- range ($slices.items | default list) -}}
{{- if eq (dig "metadata" "labels" "kubernetes.io/service-name" "" .) "kubernetes" -}}
{{- range (.endpoints | default list) -}}{{- $addresses = concat $addresses .addresses -}}{{- end -}}
{{- range (.ports | default list) -}}{{- $found = append $found (int .port) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $addresses -}}
{{- fail "apiServer.cidrs: the cluster can't be asked (helm template, Argo CD), so the API server's addresses must be given, e.g. --set 'apiServer.cidrs={10.96.0.1/32,192.0.2.10/32}'" -}}
{{- end -}}
{{- range ($addresses | uniq | sortAlpha) -}}
{{- $cidrs = append $cidrs (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) -}}
{{- end -}}
{{- $ports = default ($found | uniq) $ports -}}
{{- end -}}
{{- dict "cidrs" $cidrs "ports" (default (list 443 6443) $ports) | toJson -}}
{{- end -}}

{{- /* Pod Security `restricted`, for the operator's container. */ -}}
{{- define "skerry.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- /* Egress of what Skerry runs beside the operator: the API server and DNS. Entries of a policy's `egress`. */ -}}
{{- define "skerry.egressOwn" -}}
{{- $api := include "skerry.apiServer" . | fromJson -}}
# The API server.
- to:
    {{- range $api.cidrs }}
    - ipBlock:
        cidr: {{ . }}
    {{- end }}
  ports:
    {{- range $api.ports }}
    - protocol: TCP
      port: {{ int . }}
    {{- end }}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ .Values.clusterDNS.namespace }}
      podSelector:
        matchLabels: {{- toYaml .Values.clusterDNS.podLabels | nindent 10 }}
  ports:
    {{- range .Values.clusterDNS.ports }}
    - protocol: UDP
      port: {{ int . }}
    - protocol: TCP
      port: {{ int . }}
    {{- end }}
{{- end -}}

{{- /* Likewise, to model providers. */ -}}
{{- define "skerry.egressProviders" -}}
# Model providers: public addresses over HTTPS. Others are a profile's runner.network.allow.
- to:
    {{- range ($.Files.Get "files/public-addresses.json" | fromJsonArray) }}
    {{- $v6 := contains ":" .cidr }}
    {{- $without := .except }}
    {{- range $.Values.clusterCIDRs }}
    {{- /* The API server wants exceptions inside their block: other IPv6 ones aren't reached anyway. */}}
    {{- if and (eq $v6 (contains ":" .)) (or (not $v6) (regexMatch "^[23][0-9a-fA-F]{3}:" .)) }}
    {{- $without = append $without . }}
    {{- end }}
    {{- end }}
    - ipBlock:
        cidr: {{ .cidr }}
        except: {{- $without | uniq | toYaml | nindent 10 }}
    {{- end }}
  ports:
    - protocol: TCP
      port: 443
{{- end -}}
