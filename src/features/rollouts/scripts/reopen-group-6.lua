-- Puts a failed group back among the pending ones, to be scored once more: what its failure counted is taken back.
-- KEYS  1 run (hash)  2 group (hash)  3 pending (sorted set)  4 stock (hash)  5 failed (sorted set)
--       6 recent (sorted set)
-- ARGV  1 group id  2 now, ms
-- Gives 1, or 0 if the group has not failed, or its rollouts are no longer kept.
local id = ARGV[1]
local group = redis.call('HMGET', KEYS[2], 'status', 'wants', 'rollouts')
if group[1] ~= 'failed' or redis.call('ZREM', KEYS[5], id) == 0 then
  return 0
end
redis.call('HSET', KEYS[2], 'status', 'queued', 'destination', '')
redis.call('HDEL', KEYS[2], 'result')
redis.call('ZREM', KEYS[6], id)
redis.call('ZADD', KEYS[3], ARGV[2], id)
redis.call('HINCRBY', KEYS[1], 'failed_groups', -1)
if group[2] == '1' then
  redis.call('HINCRBY', KEYS[4], 'queued_groups', 1)
  redis.call('HINCRBY', KEYS[4], 'queued_rollouts', group[3])
end
return 1
