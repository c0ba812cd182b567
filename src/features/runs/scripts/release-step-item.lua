-- Returns a claimed position of a step whose item could not be made. One that failed too often gives way to the next of the
-- run's sequence, is counted and listed.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  skippedPositions (list of JSON, newest first)
--       stepItems (hash)  itemBodies (hash)
-- ARGV  1 position  2 '1' if the try counts against the item  3 most tries  4 what is listed, as JSON  5 now, ms
-- Gives 1 if the position is skipped now, else 0.
-- include parts/sequence
local tries = (redis.call('HGET', K.stepItems, ARGV[1]) or ''):match('^-%d+:(%d+)$')
if not tries then
  return 0
end
tries = tonumber(tries) + (ARGV[2] == '1' and 1 or 0)
if tries < tonumber(ARGV[3]) then
  redis.call('HSET', K.stepItems, ARGV[1], '-0:' .. tries)
  return 0
end
open_until(K.run, K.openPositions, K.positionStates, 1, ARGV[5])
local after = redis.call('ZRANGE', K.openPositions, 0, 0)[1]
redis.call('ZREM', K.openPositions, after)
redis.call('HDEL', K.positionStates, after)
redis.call('HDEL', K.itemBodies, after)
redis.call('HDEL', K.stepItems, ARGV[1])
redis.call('HSET', K.stepItems, after, '-0:0')
redis.call('HINCRBY', K.run, 'skipped_positions', 1)
redis.call('LPUSH', K.skippedPositions, ARGV[4])
redis.call('LTRIM', K.skippedPositions, 0, 99)
return 1
