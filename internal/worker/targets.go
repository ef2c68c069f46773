package worker

import (
	"errors"
	"fmt"
	"strings"

	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
)

// nodesOf returns the addresses of a layout's nodes.
func nodesOf(targets map[string][]string) (nodes []redisclient.Options, err error) {
	servers, masters := targets[TargetRedis], targets[TargetMasters]
	if len(servers) == 0 {
		return nil, fmt.Errorf("it needs a server of kind %s among the targets", TargetRedis)
	}
	if len(masters) == 0 {
		for _, addr := range servers {
			nodes = append(nodes, redisclient.Options{Addr: addr})
		}
		return nodes, nil
	}
	links := map[string]string{}
	if _, err := addLinks(links, TargetRedis, servers); err != nil {
		return nil, err
	}
	sentinels, err := addLinks(links, TargetSentinels, targets[TargetSentinels])
	if err != nil {
		return nil, err
	}
	for _, name := range masters {
		nodes = append(nodes, redisclient.Options{Master: name, Sentinels: sentinels, Links: links})
	}
	return nodes, nil
}

// addLinks reads targets of the form LINK=ANNOUNCED into links, by their announced
// addresses, and returns these.
func addLinks(links map[string]string, kind string, targets []string) (announced []string, err error) {
	if len(targets) == 0 {
		return nil, fmt.Errorf("with targets of kind %s it needs some of kind %s", TargetMasters, kind)
	}
	for _, t := range targets {
		link, name, ok := strings.Cut(t, "=")
		if !ok || link == "" || name == "" {
			return nil, fmt.Errorf("target %q of kind %s: with targets of kind %s it is LINK=ANNOUNCED", t, kind, TargetMasters)
		}
		links[name] = link
		announced = append(announced, name)
	}
	return announced, nil
}

// conns are the connections of a client.
type conns []*redisclient.Client

// open opens a client of a node: library has its options, node its addresses.
func (cs *conns) open(library, node redisclient.Options) *redisclient.Client {
	library.Addr = node.Addr
	library.Master, library.Sentinels, library.Links = node.Master, node.Sentinels, node.Links
	c := redisclient.New(library)
	*cs = append(*cs, c)
	return c
}

func (cs *conns) close() error {
	var errs []error
	for _, c := range *cs {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
