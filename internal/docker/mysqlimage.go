package docker

import (
	"context"
	"fmt"
	"os"

	"github.com/lockcheck/lockcheck/faults"
)

// MySQLEnv is the environment variable with an image of a MySQL server that replaces
// the MariaDB of the servers' image.
const MySQLEnv = "LOCKCHECK_MYSQL_IMAGE"

// stockMySQL returns that image; "": none.
func stockMySQL() string { return os.Getenv(MySQLEnv) }

// MySQLLacks returns an error if a fault needs something that the user's image of a
// MySQL server lacks.
func MySQLLacks(f faults.Fault) error {
	image := stockMySQL()
	switch {
	case image == "":
		return nil
	case f.Need == faults.NeedClock:
		return fmt.Errorf("%s needs libfaketime, which our image has, and %s (%s) may lack", f.Name, image, MySQLEnv)
	case f.Need == faults.NeedReplicas:
		return fmt.Errorf("%s needs replicas of MariaDB, which need our image, not %s (%s)", f.Name, image, MySQLEnv)
	}
	return nil
}

// mysqlImage returns the image for n MySQL servers of one layout. ours is the servers'
// image.
func (e *engine) mysqlImage(ctx context.Context, ours string, n int) (string, error) {
	image := stockMySQL()
	switch {
	case image == "":
		return ours, nil
	case n > 1:
		return "", fmt.Errorf("docker: replicas of servers of %s, which %s names, are unsupported", image, MySQLEnv)
	}
	if _, err := e.api.ImageInspect(ctx, image); err != nil {
		return "", fmt.Errorf("image %s, which %s names, is not on this machine: %w\nFetch it with docker pull", image, MySQLEnv, err)
	}
	return image, nil
}

// mysqlData is a script that creates the files of a new server, before anything that
// watches what the server writes. Our image has them. Other servers create their own,
// with our users; MySQL reads its statements for that as the user that it runs as.
func mysqlData() string {
	if stockMySQL() == "" {
		return "[ -d /data/mysql ] || cp -a --reflink=auto /var/lib/mysql /data/mysql"
	}
	return `[ -d /data/mysql ] || {
  printf '%s;\n' 'CREATE DATABASE lockcheck' \
    'CREATE USER lockcheck@"%"' 'GRANT ALL ON ` + "`lockcheck%`" + `.* TO lockcheck@"%"' \
    'CREATE USER root@"%"' 'GRANT ALL ON *.* TO root@"%" WITH GRANT OPTION' >/data/grants
  if make=$(command -v mariadb-install-db); then
    { echo 'FLUSH PRIVILEGES;'; cat /data/grants; } >/data/extra
    $make --no-defaults --user=root --auth-root-authentication-method=normal --skip-test-db --datadir=/data/mysql --extra-file=/data/extra
  else
    mysqld --no-defaults --initialize-insecure --user=root --datadir=/data/mysql --init-file=/data/grants
  fi
} >>/data/log 2>&1`
}
