-- Makes a failed group pending again, so that it is scored once more, and reverts what its failure counted.
-- KEYS  run (hash)  group (hash)  pendingGroups (sorted set)  backlog (hash)  failedGroups (sorted set)  retainedGroups (sorted set)
-- ARGV  1 group ID  2 now, ms  3 epoch
-- Returns 1, or 0 if the group has not failed, its rollouts are no longer retained, or its run was restored or deleted.
local id = ARGV[1]
if redis.call('HGET', K.run, RUN.epoch) ~= ARGV[3] then
  return 0
end
local group = redis.call('HMGET', K.group, GROUP.status, GROUP.for_buffer, GROUP.rollouts)
if group[1] ~= 'failed' or redis.call('ZREM', K.failedGroups, id) == 0 then
  return 0
end
redis.call('HSET', K.group, GROUP.status, 'queued', GROUP.destination, '')
redis.call('HDEL', K.group, GROUP.result, GROUP.rewards)
redis.call('ZREM', K.retainedGroups, id)
redis.call('ZADD', K.pendingGroups, ARGV[2], id)
redis.call('HINCRBY', K.run, RUN.failed_groups, -1)
if group[2] == '1' then
  redis.call('HINCRBY', K.backlog, BACKLOG.queued_groups, 1)
  redis.call('HINCRBY', K.backlog, BACKLOG.queued_rollouts, group[3])
end
return 1
