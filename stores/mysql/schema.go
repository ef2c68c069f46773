package mysql

// Table is the table that the locks are rows of. The article that the published
// ones are from shows neither it nor its mapper's statements; what is assumed is
// what they need: a unique key on the resource, a version that an update
// compares and sets, and an update by id that leaves alone what its caller has
// not set.
const Table = "lockcheck_lock"

// QueueLength is how many characters the queue of a row may have, and
// NameLength how many a resource or an owner.
const (
	QueueLength = 1024
	NameLength  = 190
)

// Schema creates the table, where it is missing. Names compare byte by byte.
const Schema = `CREATE TABLE IF NOT EXISTS ` + Table + ` (
  id          BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  resource    VARCHAR(190) NOT NULL,
  version_no  BIGINT       NOT NULL,
  expire_time BIGINT       NOT NULL,
  fair_queue  VARCHAR(1024),
  owner       VARCHAR(190),
  UNIQUE KEY (resource)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`
