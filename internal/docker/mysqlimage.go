package docker

import (
	"context"
	"fmt"
	"os"

	"github.com/lockcheck/lockcheck/faults"
)

// MySQLEnv names the environment variable with an image of a MySQL server that
// takes the place of the servers' image, which has Debian's MariaDB.
const MySQLEnv = "LOCKCHECK_MYSQL_IMAGE"

// stockMySQL is that image; "": none is named.
func stockMySQL() string { return os.Getenv(MySQLEnv) }

// MySQLLacks says what a fault needs that a MySQL server of an image which
// somebody else has made has not; nil: nothing.
func MySQLLacks(f faults.Fault) error {
	image := stockMySQL()
	switch {
	case image == "":
		return nil
	case f.Need == faults.NeedClock:
		return fmt.Errorf("%s needs libfaketime, which is in the image of ours, and not expected in %s (%s)", f.Name, image, MySQLEnv)
	case f.Need == faults.NeedReplicas:
		return fmt.Errorf("%s needs replicas as MariaDB has them, which are made with the image of ours, and not with %s (%s)", f.Name, image, MySQLEnv)
	}
	return nil
}

// mysqlImage is what n MySQL servers that belong together are made of, where ours
// is the servers' image.
func (e *engine) mysqlImage(ctx context.Context, ours string, n int) (string, error) {
	image := stockMySQL()
	switch {
	case image == "":
		return ours, nil
	case n > 1:
		return "", fmt.Errorf("docker: no replicas of servers of %s, which %s names", image, MySQLEnv)
	}
	if _, err := e.api.ImageInspect(ctx, image); err != nil {
		return "", fmt.Errorf("image %s, which %s names, is not on this machine: %w\nFetch it with docker pull", image, MySQLEnv, err)
	}
	return image, nil
}

// mysqlData is a script that gives a new server its files. It goes before
// anything that watches what the server writes. Ours are in the image. Another
// server makes its own, with the users of ours; MySQL reads what it is to do for
// that as the user that it runs as.
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
