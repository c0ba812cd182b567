-- Returns a claimed position whose item could not be made. One that failed too often is skipped, counted and listed.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  skippedPositions (list of JSON, newest first)
-- ARGV  1 epoch  2 position  3 '1' if the try counts against the item  4 most tries  5 what is listed, as JSON
-- Gives 1 if the position is skipped now, else 0.
-- include parts/sequence
if redis.call('HGET', K.run, 'epoch') ~= ARGV[1] then
  return 0
end
local opened, tries, task = head_of(K.positionStates, ARGV[2]):match('^-(%d+):%d+:(%d+):?(.*)$')
if not opened or not redis.call('ZSCORE', K.openPositions, ARGV[2]) then
  return 0 -- somebody else made it, or the sequence began anew
end
tries = tonumber(tries) + (ARGV[3] == '1' and 1 or 0)
if tries < tonumber(ARGV[4]) then
  redis.call('HSET', K.positionStates, ARGV[2], '-' .. opened .. ':0:' .. tries .. ':' .. task)
  return 0
end
redis.call('ZREM', K.openPositions, ARGV[2])
redis.call('HDEL', K.positionStates, ARGV[2])
redis.call('HINCRBY', K.run, 'skipped_positions', 1)
redis.call('LPUSH', K.skippedPositions, ARGV[5])
redis.call('LTRIM', K.skippedPositions, 0, 99)
return 1
