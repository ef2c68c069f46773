package endpoints

import "os"

// Variables in the environment of workers that say how to prove to the servers who asks.
// Links do that for Redis and Sentinels.
const (
	userEnv     = "LOCKCHECK_USER"
	passwordEnv = "LOCKCHECK_PASSWORD"
	databaseEnv = "LOCKCHECK_DATABASE"
)

// Environ returns these variables for a worker.
func (s *Servers) Environ(secret string) (list []string) {
	user, database := s.User, ""
	if part := sourceName.FindStringSubmatch(s.MySQL); part != nil {
		user, database = part[1], part[3]
	}
	for _, v := range [][2]string{{userEnv, user}, {passwordEnv, secret}, {databaseEnv, database}} {
		if v[1] != "" {
			list = append(list, v[0]+"="+v[1])
		}
	}
	return list
}

// WorkerDSN returns the data source name of the MySQL server for a worker that reaches it at
// addr; "": this process is not a worker with a MySQL server of the user.
func WorkerDSN(addr string) string {
	if os.Getenv(databaseEnv) == "" {
		return ""
	}
	account := os.Getenv(userEnv)
	if secret := os.Getenv(passwordEnv); secret != "" {
		account += ":" + secret
	}
	return account + "@tcp(" + addr + ")/" + os.Getenv(databaseEnv)
}
