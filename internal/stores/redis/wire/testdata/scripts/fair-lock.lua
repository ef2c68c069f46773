local lock, queue, patience = KEYS[1], KEYS[2], KEYS[3]
local me, lease, wait, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local first = redis.call('lindex', queue, 0)
while first and tonumber(redis.call('zscore', patience, first)) <= now do
  redis.call('lpop', queue)
  redis.call('zrem', patience, first)
  first = redis.call('lindex', queue, 0)
end
if redis.call('hexists', lock, me) == 1 then
  redis.call('hincrby', lock, me, 1)
  redis.call('pexpire', lock, lease)
  return nil
end
if redis.call('exists', lock) == 0 and (not first or first == me) then
  redis.call('lrem', queue, 0, me)
  redis.call('zrem', patience, me)
  for _, other in ipairs(redis.call('zrange', patience, 0, -1)) do
    redis.call('zincrby', patience, -wait, other)
  end
  redis.call('hset', lock, me, 1)
  redis.call('pexpire', lock, lease)
  return nil
end
if redis.call('zadd', patience, 'nx', now + wait * (redis.call('llen', queue) + 1), me) == 1 then
  redis.call('rpush', queue, me)
end
return redis.call('lrange', queue, 0, -1)
