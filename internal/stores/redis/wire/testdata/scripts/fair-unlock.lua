if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then return 1 end
redis.call('del', KEYS[1])
local first = redis.call('lindex', KEYS[2], 0)
if first then redis.call('publish', KEYS[3] .. ':' .. first, 'freed') end
return 1
