package adapters_test

import _ "github.com/lockcheck/lockcheck/docker" // for -lockcheck.on=docker
