package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
)

// engineURL returns the address of the Docker engine that the docker command would use:
// DOCKER_HOST, or the endpoint of the current context, which Docker Desktop and Colima
// set. "" means the default socket. config is the directory of the docker command's
// settings.
//
// Source: docs.docker.com, "Docker contexts".
func engineURL(getenv func(string) string, config string) (string, error) {
	if host := getenv("DOCKER_HOST"); host != "" {
		return host, nil
	}
	name := getenv("DOCKER_CONTEXT")
	if name == "" {
		var settings struct{ CurrentContext string }
		if text, err := os.ReadFile(filepath.Join(config, "config.json")); err == nil {
			if err := json.Unmarshal(text, &settings); err != nil {
				return "", fmt.Errorf("read %s: %w", filepath.Join(config, "config.json"), err)
			}
		}
		name = settings.CurrentContext
	}
	if name == "" || name == "default" {
		return "", nil
	}
	var meta struct {
		Endpoints map[string]struct{ Host string }
	}
	sum := sha256.Sum256([]byte(name))
	text, err := os.ReadFile(filepath.Join(config, "contexts", "meta", hex.EncodeToString(sum[:]), "meta.json"))
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		return "", fmt.Errorf("the docker context %q cannot be read: %w", name, err)
	}
	return meta.Endpoints["docker"].Host, nil
}

// dockerConfig returns the directory of the docker command's settings.
func dockerConfig() string {
	home, _ := os.UserHomeDir() // without a home directory there are no settings
	return cmp.Or(os.Getenv("DOCKER_CONFIG"), filepath.Join(home, ".docker"))
}

// published returns the host at which an engine's published ports are reached from
// here, and the address on the engine's machine that they are bound to. A local engine
// binds them to the loopback interface, so that no other machine reaches them. A remote
// engine must bind them to all interfaces.
func published(engine string) (host string, bind netip.Addr) {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	u, err := url.Parse(engine)
	if err != nil || u.Scheme == "unix" || u.Scheme == "npipe" || u.Hostname() == "" || u.Hostname() == "localhost" {
		return loopback.String(), loopback
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() {
		return loopback.String(), loopback
	}
	return u.Hostname(), netip.IPv4Unspecified()
}
