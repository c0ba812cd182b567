-- Returns a claimed position of a step whose item could not be made. One that failed too often gives way to the next of the
-- run's sequence, is counted and listed.
-- KEYS  1 run (hash)  2 open (sorted set)  3 heads (hash)  4 skipped (list of JSON, newest first)  5 step (hash)
--       6 bodies (hash)
-- ARGV  1 position  2 '1' if the try counts against the item  3 most tries  4 what is listed, as JSON  5 now, ms
-- Gives 1 if the position is skipped now, else 0.
-- include parts/sequence
local tries = (redis.call('HGET', KEYS[5], ARGV[1]) or ''):match('^-%d+:(%d+)$')
if not tries then
  return 0
end
tries = tonumber(tries) + (ARGV[2] == '1' and 1 or 0)
if tries < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[5], ARGV[1], '-0:' .. tries)
  return 0
end
open_until(KEYS[1], KEYS[2], KEYS[3], 1, ARGV[5])
local after = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
redis.call('ZREM', KEYS[2], after)
redis.call('HDEL', KEYS[3], after)
redis.call('HDEL', KEYS[6], after)
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('HSET', KEYS[5], after, '-0:0')
redis.call('HINCRBY', KEYS[1], 'skipped_positions', 1)
redis.call('LPUSH', KEYS[4], ARGV[4])
redis.call('LTRIM', KEYS[4], 0, 99)
return 1
