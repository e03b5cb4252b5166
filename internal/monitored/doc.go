// Package monitored holds the tests of what a run sends to other systems: whole command lines of warp, and InfluxDB,
// StatsD, Prometheus and Pushgateway as they are, alive, slow and dead. What those hold in the end is compared with the
// op log. The dashboards for Grafana are tested here too, against what a run left in these systems.
package monitored
