package wire

import "maps"

// dataCommands are the commands of a server. A name with a bar is a subcommand. What
// has no function is a command of Redis 7.0 that the model lacks, and that needs a row
// because its neighbours are unknown to Redis 7.0.
var dataCommands = join(connectionCommands, map[string]command{
	"get":      {2, reads, get},
	"set":      {-3, writes | grows, set},
	"setnx":    {3, writes | grows, setNX},
	"setex":    {4, writes | grows, setEx("setex", second)},
	"psetex":   {4, writes | grows, setEx("psetex", millisecond)},
	"getset":   {3, writes | grows, getSet},
	"getdel":   {2, writes, getDel},
	"getex":    {-2, writes, getEx},
	"mget":     {-2, readsAll, mget},
	"mset":     {-3, writes | grows, mset},
	"msetnx":   {-3, writes | grows, msetNX},
	"getrange": {4, reads, getRange},
	"substr":   {4, reads, getRange},
	"strlen":   {2, reads, strLen},
	"incr":     {2, writes | grows, incr(1)},
	"decr":     {2, writes | grows, incr(-1)},
	"incrby":   {3, writes | grows, incrBy(1)},
	"decrby":   {3, writes | grows, incrBy(-1)},
	"rpush":    {-3, writes | grows, rpush},

	"exists":    {-2, readsAll, exists},
	"type":      {2, reads, typeOf},
	"del":       {-2, writes, del},
	"unlink":    {-2, writes, del},
	"expire":    {-3, writes, expire("expire", second, false)},
	"pexpire":   {-3, writes, expire("pexpire", millisecond, false)},
	"expireat":  {-3, writes, expire("expireat", second, true)},
	"pexpireat": {-3, writes, expire("pexpireat", millisecond, true)},
	"persist":   {2, writes, persist},
	"ttl":       {2, reads, ttl},
	"pttl":      {2, reads, pttl},

	"hget":    {3, reads, hget},
	"hset":    {-4, writes | grows, hset},
	"hmset":   {-4, writes | grows, hmset},
	"hsetnx":  {4, writes | grows, hsetNX},
	"hmget":   {-3, reads, hmget},
	"hdel":    {-3, writes, hdel},
	"hexists": {3, reads, hexists},
	"hincrby": {4, writes | grows, hincrBy},
	"hlen":    {2, reads, hlen},
	"hgetall": {2, reads, hgetAll},
	"hkeys":   {2, reads, hkeys},
	"hvals":   {2, reads, hvals},

	"publish":  {3, 0, publish(channel)},
	"spublish": {3, 0, publish(shard)},

	"eval":          {-3, noScript, eval(false)},
	"eval_ro":       {-3, noScript, eval(true)},
	"evalsha":       {-3, noScript, evalSHA(false)},
	"evalsha_ro":    {-3, noScript, evalSHA(true)},
	"script":        {-2, container, nil},
	"script|load":   {3, noScript, scriptLoad},
	"script|exists": {-3, noScript, scriptExists},
	"script|flush":  {-2, noScript, scriptFlush},
	"script|kill":   {2, noScript, scriptKill},
	"script|debug":  {},
	"script|help":   {},

	"multi":   {1, noScript | unqueued, multi},
	"exec":    {1, noScript | unqueued, exec},
	"discard": {1, noScript | unqueued, discard},
	"watch":   {-2, noScript | unqueued, watch},
	"unwatch": {1, noScript, unwatch},

	"quit":      {-1, noScript | unqueued | subscribed, quit},
	"reset":     {1, noScript | unqueued | subscribed, reset},
	"wait":      {3, noScript, wait},
	"time":      {1, 0, clock},
	"echo":      {2, 0, echo},
	"select":    {2, 0, selectDB},
	"readonly":  {1, 0, noCluster},
	"readwrite": {1, 0, noCluster},
	"asking":    {1, 0, noCluster},
	"cluster":   {-2, 0, noCluster},
})

// connectionCommands are the commands that a Sentinel has, too.
var connectionCommands = map[string]command{
	"ping":  {-1, subscribed, ping},
	"hello": {-1, noScript, hello},
	"auth":  {-2, noScript, auth},
	"info":  {-1, 0, info},
	"role":  {1, noScript, role},

	"command":         {-1, container, commandTable},
	"command|count":   {2, 0, commandCount},
	"command|docs":    {-2, 0, commandDocs},
	"command|getkeys": {},
	"command|info":    {},
	"command|list":    {},

	"client":              {-2, container, nil},
	"client|id":           {2, noScript, clientID},
	"client|getname":      {2, noScript, clientGetName},
	"client|setname":      {3, noScript, clientSetName},
	"client|tracking":     {-3, noScript, clientTracking},
	"client|caching":      {3, noScript, clientCaching},
	"client|no-evict":     {3, noScript, clientNoEvict},
	"client|info":         {},
	"client|list":         {},
	"client|kill":         {},
	"client|pause":        {},
	"client|unpause":      {},
	"client|reply":        {},
	"client|unblock":      {},
	"client|getredir":     {},
	"client|trackinginfo": {},
	"client|help":         {},

	"subscribe":    {-2, noScript | subscribed, subscribe(channel)},
	"psubscribe":   {-2, noScript | subscribed, subscribe(pattern)},
	"ssubscribe":   {-2, noScript | subscribed, subscribe(shard)},
	"unsubscribe":  {-1, noScript | subscribed, unsubscribe(channel)},
	"punsubscribe": {-1, noScript | subscribed, unsubscribe(pattern)},
	"sunsubscribe": {-1, noScript | subscribed, unsubscribe(shard)},
}

// join returns the commands of both tables.
func join(a, b map[string]command) map[string]command {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

var sentinelCommands = join(connectionCommands, map[string]command{
	"sentinel":                         {-2, container, nil},
	"sentinel|get-master-addr-by-name": {3, 0, masterAddr},
	"sentinel|master":                  {3, 0, sentinelMaster},
	"sentinel|masters":                 {2, 0, sentinelMasters},
	"sentinel|replicas":                {3, 0, sentinelReplicas},
	"sentinel|slaves":                  {3, 0, sentinelReplicas},
	"sentinel|sentinels":               {3, 0, sentinelSentinels},
	"sentinel|ckquorum":                {},
	"sentinel|config":                  {},
	"sentinel|failover":                {},
	"sentinel|flushconfig":             {},
	"sentinel|monitor":                 {},
	"sentinel|myid":                    {},
	"sentinel|remove":                  {},
	"sentinel|reset":                   {},
	"sentinel|set":                     {},
})
