{{- /* Values of MinIO's chart of warp, with the one to use here. The schema lets them pass, so that all are named at once. */ -}}
{{- define "warp.foreign" -}}
{{- $here := dict
  "replicaCount" "use clients.replicas"
  "configFile" "use config"
  "warpConfiguration" "use store.host, store.tls, store.region, store.accessKey, store.secretKey and benchmark"
  "warpJobArgs" "use args, a list of flags such as --obj.size=1MiB"
  "serverResources" "use coordinator.resources"
  "clientResources" "use clients.resources"
  "nodeSelector" "use clients.nodeSelector and coordinator.nodeSelector"
  "tolerations" "use clients.tolerations and coordinator.tolerations"
  "affinity" "use clients.topologyKey to spread the clients, and clients.nodeSelector and coordinator.nodeSelector"
  "nameOverride" "leave it out: names come from the release"
  "fullnameOverride" "leave it out: names come from the release"
  "job" "leave it out: every helm upgrade is a run of its own"
  "serviceAccount" "leave it out: pods have no service account"
  "securityContext" "leave it out: pods are as restricted as Pod Security Standards ask for"
  "podSecurityContext" "leave it out: pods are as restricted as Pod Security Standards ask for"
  "service" "leave it out: clients listen on port 7761"
}}
{{- $found := list }}
{{- range $name, $what := $here }}
{{- if hasKey $.Values $name }}
{{- $found = append $found (printf "%s (%s)" $name $what) }}
{{- end }}
{{- end }}
{{- if $found }}
{{- fail (printf "not values of this chart: %s" (join "; " $found)) }}
{{- end }}
{{- end -}}
