package porttest

import (
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// The commands, on paths below the root of a test.
func create(path, data string, mode zookeeper.Mode) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.Create, Path: path, Data: data, Mode: mode}
}

func remove(path string, version int32) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.Delete, Path: path, Version: version}
}

func setData(path, data string, version int32) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.SetData, Path: path, Data: data, Version: version}
}

func exists(path string) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.Exists, Path: path}
}

func getData(path string) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.GetData, Path: path}
}

func children(path string) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.GetChildren, Path: path}
}

func flush(path string) zookeeper.Command {
	return zookeeper.Command{Verb: zookeeper.Sync, Path: path}
}

func watching(c zookeeper.Command) zookeeper.Command {
	c.Watch = true
	return c
}

// The events.
func created(path string) zookeeper.Event {
	return zookeeper.Event{Type: zookeeper.NodeCreated, Path: path}
}

func deleted(path string) zookeeper.Event {
	return zookeeper.Event{Type: zookeeper.NodeDeleted, Path: path}
}

func changed(path string) zookeeper.Event {
	return zookeeper.Event{Type: zookeeper.NodeDataChanged, Path: path}
}

func listChanged(path string) zookeeper.Event {
	return zookeeper.Event{Type: zookeeper.NodeChildrenChanged, Path: path}
}

var (
	connected    = zookeeper.Event{Type: zookeeper.Connected}
	disconnected = zookeeper.Event{Type: zookeeper.Disconnected}
	expired      = zookeeper.Event{Type: zookeeper.Expired}
	closed       = zookeeper.Event{Type: zookeeper.Closed}
)

const (
	persistent = zookeeper.Persistent
	ephemeral  = zookeeper.Ephemeral
	sequential = zookeeper.Sequential
	anyVersion = zookeeper.AnyVersion
)

// within puts c below root. A bad path without a slash at its beginning stays
// unchanged.
func within(root string, c zookeeper.Command) zookeeper.Command {
	if c.Path == "" || c.Path[0] == '/' {
		c.Path = root + c.Path
	}
	return c
}

var modes = [...]string{"", ", ephemeral", ", sequential", ", ephemeral and sequential"}

// describe formats c for people.
func describe(c zookeeper.Command) string {
	s := fmt.Sprintf("%s(%q", c.Verb, c.Path)
	if c.Verb == zookeeper.Create || c.Verb == zookeeper.SetData {
		s += fmt.Sprintf(", %.40q", c.Data)
	}
	if c.Verb == zookeeper.Delete || c.Verb == zookeeper.SetData {
		s += fmt.Sprintf(", version %d", c.Version)
	}
	if c.Watch {
		s += ", watch"
	}
	return s + modes[c.Mode] + ")"
}
