package mysql

// Table is the table of the locks. The article with the published locks shows
// neither the table nor the mapper's statements. The schema is what they need: a
// unique key on the resource, a version for compare-and-set updates, and an
// update by id that keeps columns its caller has not set.
const Table = "lockcheck_lock"

// QueueLength is the greatest length of a row's queue in characters, NameLength
// that of a resource or an owner.
const (
	QueueLength = 1024
	NameLength  = 190
)

// Schema creates the table if it is missing. Names are compared byte by byte.
const Schema = `CREATE TABLE IF NOT EXISTS ` + Table + ` (
  id          BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  resource    VARCHAR(190) NOT NULL,
  version_no  BIGINT       NOT NULL,
  expire_time BIGINT       NOT NULL,
  fair_queue  VARCHAR(1024),
  owner       VARCHAR(190),
  UNIQUE KEY (resource)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`
