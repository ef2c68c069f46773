package formats

// A key is a known key of an operation.
type key int

const (
	keyIndex key = iota
	keyTime
	keyClient
	keyProcess
	keyType
	keyF
	keyLock
	keyShared
	keyGrant
	keyToken
	keyValidUntil
	keyValue
	keyWas
	keyError
	keyText
	keyKey
	keyBy
	keyOp
	keyID
	keyOn
	keyPoint
	keyAmount
	keyHits
	keys // number of keys
)

var keyNames = [keys]string{
	"index", "time", "client", "process", "type", "f", "lock", "shared", "grant", "token", "valid-until", "value", "was",
	"error", "text", "key", "by", "op", "id", "on", "point", "amount-ns", "hits",
}

var keyNamed = func() map[string]key {
	m := map[string]key{"fence": keyToken, "valid_until": keyValidUntil, "amount_ns": keyAmount}
	for i, name := range keyNames {
		m[name] = key(i)
	}
	return m
}()

// operation is a map by its keys; nil means absent.
type operation [keys]*value
