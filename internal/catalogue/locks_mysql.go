package catalogue

import (
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
)

var mysqlLocks = []Lock{
	{
		ID:      "mysql-optimistic",
		Does:    "SELECT, and INSERT, or UPDATE of a row that has expired if its version is the one that was read; SELECT, and DELETE with the version just read",
		Promise: "exclusion for the length of a lease, if all clocks are right, nobody releases late and nobody releases what he does not hold",
		Source:  "Bailongma, How to build a fair distributed lock with MySQL (in Chinese), fair = false",
		Steps:   Requests{2, 2},
		Store:   StoreMySQL,
		Options: []string{"token", "in-tx", "try-in-tx"},
		New:     mysqlLock(mysqllocks.NewOptimistic),
	},
	{
		ID:      "mysql-fair",
		Does:    "as mysql-optimistic with a queue in a column: SELECT, enter as its head with UPDATE by id, else UPDATE with the own name at its end; SELECT, and UPDATE without the own name, or DELETE",
		Promise: "as mysql-optimistic, and the order of the queue, if nobody dies or gives up in it",
		Source:  "Bailongma, How to build a fair distributed lock with MySQL (in Chinese), fair = true",
		Steps:   Requests{2, 2},
		Store:   StoreMySQL,
		Options: []string{"token", "in-tx", "identity=shared"},
		Order:   true,
		New:     mysqlLock(mysqllocks.NewFair),
	},
	{
		ID:      "mysql-fair-fixed",
		Does:    "SELECT, enter as the first of a queue in a column with UPDATE if the version is the one that was read, else queue up so for T/3, again and again; UPDATE of the owner's row",
		Promise: "exclusion for the length of a lease; beyond it with fencing only; the order of the queue, for who is not away from it for T/3",
		Source:  "Bailongma, How to build a fair distributed lock with MySQL (in Chinese), for the idea; Redis manual, Distributed Locks with Redis; M. Kleppmann, How to do distributed locking",
		Steps:   Requests{2, 1},
		Store:   StoreMySQL,
		Options: []string{"token"},
		Order:   true,
		Tells:   true,
		New:     mysqlLock(mysqllocks.NewFairFixed),
	},
	{
		ID:      "mysql-get-lock",
		Does:    "GET_LOCK on a connection that is kept; RELEASE_LOCK there, and the connection's end in doubt",
		Promise: "exclusion for as long as the session lives; beyond it with fencing only",
		Source:  "MySQL manual, Locking Functions",
		Steps:   Requests{1, 1},
		Lease:   LeaseSession,
		Store:   StoreMySQL,
		Options: []string{"token", "wait-timeout"},
		Named:   true,
		Tells:   true,
		New:     mysqlLock(mysqllocks.NewGetLock),
	},
	{
		ID:       "mysql-get-lock-pool",
		Does:     "GET_LOCK on a connection of the pool; RELEASE_LOCK on any",
		Promise:  "exclusion between processes, if each has one connection",
		Source:   "adonisjs/lucid, issue 1153; TryGhost/knex-migrator, issue 466; sanketplus/go-mysql-lock, issue 9",
		Steps:    Requests{1, 1},
		Lease:    LeaseSession,
		Store:    StoreMySQL,
		Options:  []string{"token"},
		Together: 2,
		Named:    true,
		New:      mysqlLock(mysqllocks.NewGetLockPool),
	},
	{
		ID:      "mysql-for-update",
		Does:    "BEGIN, SELECT FOR UPDATE of a row that is there; COMMIT",
		Promise: "exclusion for as long as the transaction lasts; beyond it with fencing only",
		Source:  "MySQL manual, Locking Reads; MySQL manual, InnoDB Locking",
		Steps:   Requests{2, 1},
		Lease:   LeaseSession,
		Store:   StoreMySQL,
		Options: []string{"token", "row=absent", "autocommit", "read-committed"},
		New:     mysqlLock(mysqllocks.NewForUpdate),
	},
}

func mysqlLock(make func(locks.Host, mysql.Port, mysqllocks.Options) locks.Locker) func(Env) locks.Locker {
	return func(e Env) locks.Locker {
		return make(e.Host, e.MySQL, mysqllocks.Options{
			TTL:           e.Lease,
			Token:         e.Options.Token,
			Address:       e.Address,
			Thread:        e.Thread,
			TryInTx:       e.Options.TryInTx,
			InTx:          e.Options.InTx,
			WaitTimeout:   e.Options.WaitTimeout,
			RowAbsent:     e.Options.RowAbsent,
			Autocommit:    e.Options.Autocommit,
			ReadCommitted: e.Options.ReadCommitted,
		})
	}
}

// Name sets the Address and Thread of a client of that name: "c2" is the main thread
// of 10.0.0.2. With identity=shared all clients have the same ones, as on machines
// that only know the address that Debian gives their own name.
func (e *Env) Name(client string) {
	e.Address, e.Thread = "10.0.0."+strings.TrimLeft(client, "abcdefghijklmnopqrstuvwxyz"), "main"
	if e.Options.SharedIdentity {
		e.Address = "127.0.1.1"
	}
}
