package docker

import "strings"

// OwnerOf is the owner that a process of this machine would be; earlier says
// by how many ticks it started before.
func OwnerOf(pid int, earlier uint64) string {
	o, err := thisOwner()
	if err != nil {
		return ""
	}
	start, _ := startOf(pid)
	return owner{pid: pid, start: start - min(earlier, start), boot: o.boot, space: o.space}.String()
}

// Connections is how many connections the server of p has.
func Connections(p *Place) (int, error) {
	list, err := p.server.current().command.do("CLIENT", "LIST")
	return strings.Count(list, " addr="), err
}
