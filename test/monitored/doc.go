// Package monitored tests what runs send to InfluxDB, StatsD, Prometheus and Pushgateway, while these are alive, slow
// or dead. It compares what they received with the op log, and runs the queries of the Grafana dashboards on it.
package monitored
