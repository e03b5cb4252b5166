package ais

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// A clusterMap contains the nodes of a cluster.
type clusterMap struct {
	Targets map[string]node `json:"tmap"`
	Proxies map[string]node `json:"pmap"`
}

// A node is a node of a cluster with its addresses in each network.
type node struct {
	Public  network   `json:"public_net"`
	Control network   `json:"intra_control_net"`
	Data    network   `json:"intra_data_net"`
	More    []network `json:"pub_extra"`
}

type network struct {
	URL string `json:"direct_url"`
}

// nodes requests the hosts of the cluster from a proxy.
func nodes(ctx context.Context, cfg *store.Config, settings Settings, api *httpclient.API) (hosts []string, err error) {
	at := cfg.Hosts[0]
	client, own, err := api.NewAdmin(cfg, at, store.AdminTimeout)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	e := newEngine(own, settings.forAdmin(), client, at.Path)
	r := httpclient.NewRequest(http.MethodGet, e.path+daemonPath+"?what=smap")
	defer r.End()
	reply, err := e.send(ctx, r, "", store.NewTrace(time.Now()))
	if err != nil {
		return nil, err
	}
	var all clusterMap
	if err := reply.DecodeJSON("a cluster's map", &all); err != nil {
		return nil, err
	}
	for _, group := range []map[string]node{all.Targets, all.Proxies} {
		for _, n := range group {
			for _, net := range append([]network{n.Public, n.Control, n.Data}, n.More...) {
				if u, err := url.Parse(net.URL); err == nil && u.Host != "" {
					hosts = append(hosts, u.Host)
				}
			}
		}
	}
	return hosts, nil
}
