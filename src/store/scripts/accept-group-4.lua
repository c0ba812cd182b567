-- Accepts a group: stores it and notes it as pending, both or neither. A group sent twice is accepted once.
-- KEYS  1 run (hash)  2 group (hash)  3 pending (sorted set: group id by time)  4 buffer (sorted set)
-- ARGV  1 group id  2 hash of the content  3 the group as JSON  4 now, ms  5 epoch
--       6 most groups queued and buffered, 0: no bound  7 rollouts
-- Gives 'new', 'known' (the same content was accepted before), 'conflict' (other content), 'full', or 'epoch' (the run
-- is in another epoch than the caller thinks).
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[5] then
  return 'epoch'
end
local content = redis.call('HGET', KEYS[2], 'content')
if content then
  return content == ARGV[2] and 'known' or 'conflict'
end
local most = tonumber(ARGV[6])
if most > 0 and redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4]) >= most then
  return 'full'
end
redis.call('HSET', KEYS[2], 'content', ARGV[2], 'input', ARGV[3], 'status', 'queued', 'accepted', ARGV[4])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
redis.call('HINCRBY', KEYS[1], 'groups', 1)
redis.call('HINCRBY', KEYS[1], 'rollouts', ARGV[7])
return 'new'
