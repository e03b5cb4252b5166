{{- /* Values of another chart of warp: what each of them is here. The schema lets them pass, so that all are named at once. */ -}}
{{- define "warp.foreign" -}}
{{- $here := dict
  "replicaCount" "is clients.replicas"
  "configFile" "is config"
  "serverResources" "is coordinator.resources"
  "clientResources" "is clients.resources"
  "nodeSelector" "is clients.nodeSelector and coordinator.nodeSelector"
  "tolerations" "is clients.tolerations and coordinator.tolerations"
  "affinity" "is clients.topologyKey, over whose values clients are spread, and nodeSelector"
  "nameOverride" "is not needed: names come from the release"
  "fullnameOverride" "is not needed: names come from the release"
  "job" "is not needed: every helm upgrade is a run of its own"
  "serviceAccount" "is not needed: pods have no account of the cluster"
  "securityContext" "is not needed: pods are as restricted as Pod Security Standards ask for"
  "podSecurityContext" "is not needed: pods are as restricted as Pod Security Standards ask for"
  "service" "is not needed: clients listen on port 7761"
}}
{{- $found := list }}
{{- range $name, $what := $here }}
{{- if hasKey $.Values $name }}
{{- $found = append $found (printf "%s %s" $name $what) }}
{{- end }}
{{- end }}
{{- if $found }}
{{- fail (printf "these are values of another chart of warp: %s" (join "; " $found)) }}
{{- end }}
{{- end -}}
