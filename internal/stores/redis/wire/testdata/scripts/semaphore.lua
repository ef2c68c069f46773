redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[1] - ARGV[2])
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[3]) then return false end
redis.call('zadd', KEYS[1], ARGV[1], ARGV[4])
redis.call('expire', KEYS[1], 60)
return redis.call('zrank', KEYS[1], ARGV[4])
