-- Puts a failed group back among the pending ones, to be scored once more: what its failure counted is taken back.
-- KEYS  run (hash)  group (hash)  pendingGroups (sorted set)  backlog (hash)  failedGroups (sorted set)
--       recentGroups (sorted set)
-- ARGV  1 group id  2 now, ms
-- Gives 1, or 0 if the group has not failed, or its rollouts are no longer kept.
local id = ARGV[1]
local group = redis.call('HMGET', K.group, 'status', 'wants', 'rollouts')
if group[1] ~= 'failed' or redis.call('ZREM', K.failedGroups, id) == 0 then
  return 0
end
redis.call('HSET', K.group, 'status', 'queued', 'destination', '')
redis.call('HDEL', K.group, 'result')
redis.call('ZREM', K.recentGroups, id)
redis.call('ZADD', K.pendingGroups, ARGV[2], id)
redis.call('HINCRBY', K.run, 'failed_groups', -1)
if group[2] == '1' then
  redis.call('HINCRBY', K.backlog, 'queued_groups', 1)
  redis.call('HINCRBY', K.backlog, 'queued_rollouts', group[3])
end
return 1
