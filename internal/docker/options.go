package docker

import "github.com/lockcheck/lockcheck/internal/clients"

// Options are settings beside a run's Config.
type Options = clients.Options
