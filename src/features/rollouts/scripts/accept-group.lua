-- Accepts a group whose payload is written: stores its record and adds it to the pending ones, both or neither. A group
-- that is posted twice is accepted once.
-- KEYS  run (hash)  group (hash)  pendingGroups (sorted set: group ID by time)  buffer (sorted set)  backlog (hash)
--       leaseExpiries (sorted set: position by end)  leasedItems (hash: position to its state)
--       allGroups (sorted set: group ID by the time when its key expires)
-- ARGV  1 JSON: { id: of the group, content_hash, payload: `TOKEN:TEXT_BYTES:ARRAY_BYTES`, bytes: of the payload,
--                 epoch, revision, now (ms), rollouts, for_buffer: whether the group is to wait for a trainer,
--                 max_groups: queued, buffered and in open batches, server_full: no new group is accepted,
--                 lease?: { position, task } of its item, if the run's sequence may have issued it }
--       2 metadata
-- Returns 'new', { 'duplicate', its payload if it is still needed, or '' } (the same content was accepted before),
-- 'conflict' (different content), 'buffer_full', or 'run_changed' (the settings were changed, or the run was restored or
-- deleted).
-- include ../../runs/sequence/scripts/parts/position-state
local params = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if tonumber(run[1]) ~= params.epoch or tonumber(run[2]) ~= params.revision then
  return 'run_changed'
end
local known = redis.call('HMGET', K.group, GROUP.content_hash, GROUP.awaiting_delivery, GROUP.payload)
if known[1] then
  if known[1] ~= params.content_hash then
    return 'conflict'
  end
  return { 'duplicate', known[2] and known[3] or '' }
end
if params.server_full then
  return 'buffer_full'
end
if params.for_buffer then
  local backlog = redis.call('HMGET', K.backlog, BACKLOG.queued_groups, BACKLOG.open_batch_groups)
  local waiting = tonumber(backlog[1] or 0) + redis.call('ZCARD', K.buffer) + tonumber(backlog[2] or 0)
  if waiting >= params.max_groups then
    return 'buffer_full'
  end
  redis.call('HINCRBY', K.backlog, BACKLOG.queued_groups, 1)
  redis.call('HINCRBY', K.backlog, BACKLOG.queued_rollouts, params.rollouts)
end
redis.call('HSET', K.group, GROUP.content_hash, params.content_hash, GROUP.metadata, ARGV[2], GROUP.payload, params.payload,
  GROUP.status, 'queued', GROUP.accepted_at, params.now, GROUP.rollouts, params.rollouts,
  GROUP.for_buffer, params.for_buffer and 1 or 0, GROUP.bytes, params.bytes,
  GROUP.awaiting_delivery, 1)
redis.call('HINCRBY', K.backlog, BACKLOG.bytes, params.bytes)
redis.call('ZADD', K.pendingGroups, params.now, params.id)
redis.call('ZADD', K.allGroups, '+inf', params.id)
redis.call('HSET', K.run, RUN.last_accepted_at, params.now)
if params.lease then -- the group's item has returned
  local leased = get_state(K.leasedItems, params.lease.position)
  if leased and (leased.task == params.lease.task or not is_made(leased)) then
    redis.call('ZREM', K.leaseExpiries, params.lease.position)
    redis.call('HDEL', K.leasedItems, params.lease.position)
  end
end
redis.call('HINCRBY', K.run, RUN.groups, 1)
redis.call('HINCRBY', K.run, RUN.rollouts, params.rollouts)
return 'new'
