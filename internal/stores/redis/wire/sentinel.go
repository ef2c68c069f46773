package wire

import (
	"net"
)

// Sentinel answers as a Sentinel does, of one master. Its functions are called during
// Do; a nil one returns none.
type Sentinel struct {
	Name      string // of the master
	Master    func() (host, port string)
	Replicas  func() [][2]string // hosts and ports
	Sentinels func() [][2]string // the other ones

	front Server
}

// Missing is like Server's Missing.
func (s *Sentinel) Missing() string { return s.front.Missing() }

var errNoMaster = failure("ERR No such master with that name")

// knows reports whether the request names this Sentinel's master.
func (x *call) knows(w []string) bool { return w[2] == x.server.sentinel.Name }

func masterAddr(x *call, w []string) reply {
	if !x.knows(w) {
		return listOf(nilArray)
	}
	host, port := x.server.sentinel.Master()
	return listOf(array, bulk(host), bulk(port))
}

// instance is a server as a Sentinel describes it: the part of the fields that client
// libraries read.
func instance(name, host, port, flags string, more ...string) reply {
	fields := append([]string{"name", name, "ip", host, "port", port, "flags", flags}, more...)
	return listOf(mapping, bulks(fields...)...)
}

func (s *Sentinel) describeMaster() reply {
	host, port := s.Master()
	return instance(s.Name, host, port, "master", "role-reported", "master")
}

func sentinelMaster(x *call, w []string) reply {
	if !x.knows(w) {
		return errNoMaster
	}
	return x.server.sentinel.describeMaster()
}

func sentinelMasters(x *call, _ []string) reply {
	return listOf(array, x.server.sentinel.describeMaster())
}

func sentinelReplicas(x *call, w []string) reply {
	s := x.server.sentinel
	if !x.knows(w) {
		return errNoMaster
	}
	host, port := s.Master()
	return instances(s.Replicas, "slave", "master-link-status", "ok", "master-host", host, "master-port", port)
}

func sentinelSentinels(x *call, w []string) reply {
	if !x.knows(w) {
		return errNoMaster
	}
	return instances(x.server.sentinel.Sentinels, "sentinel")
}

func instances(addrs func() [][2]string, flags string, more ...string) reply {
	r := listOf(array)
	if addrs == nil {
		return r
	}
	for _, a := range addrs() {
		r.list = append(r.list, instance(net.JoinHostPort(a[0], a[1]), a[0], a[1], flags, more...))
	}
	return r
}
