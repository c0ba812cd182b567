-- Accepts a group: stores it and notes it as pending, both or neither. A group sent twice is accepted once.
-- KEYS  run (hash)  group (hash)  pendingGroups (sorted set: group id by time)  buffer (sorted set)  backlog (hash)
--       leaseExpiries (sorted set: position by end)  leasedItems (hash: position to its state)
-- ARGV  1 group id  2 hash of the content  3 about: the small record  4 texts  5 arrays
--       6 JSON: { epoch, revision, now (ms), rollouts, wants: whether it wants to wait for a trainer,
--                 most: groups queued, buffered and in open batches, full: there is no room for any new group,
--                 lease?: { position, task } of its item, if the run's sequence may have it }
-- Gives 'new', 'known' (the same content was accepted before), 'conflict' (other content), 'full', or 'changed' (the run
-- is not as the caller thinks: its settings were changed, it was restored or removed).
-- include ../../runs/sequence/scripts/parts/position-state
local ask = cjson.decode(ARGV[6])
local run = redis.call('HMGET', K.run, 'epoch', 'revision')
if tonumber(run[1]) ~= ask.epoch or tonumber(run[2]) ~= ask.revision then
  return 'changed'
end
local content = redis.call('HGET', K.group, 'content')
if content then
  return content == ARGV[2] and 'known' or 'conflict'
end
if ask.full then
  return 'full'
end
if ask.wants then
  local stock = redis.call('HMGET', K.backlog, 'queued_groups', 'open_groups')
  local waiting = tonumber(stock[1] or 0) + redis.call('ZCARD', K.buffer) + tonumber(stock[2] or 0)
  if waiting >= ask.most then
    return 'full'
  end
  redis.call('HINCRBY', K.backlog, 'queued_groups', 1)
  redis.call('HINCRBY', K.backlog, 'queued_rollouts', ask.rollouts)
end
local bytes = #ARGV[4] + #ARGV[5]
redis.call('HSET', K.group, 'content', ARGV[2], 'about', ARGV[3], 'texts', ARGV[4], 'status', 'queued',
  'accepted', ask.now, 'rollouts', ask.rollouts, 'wants', ask.wants and 1 or 0, 'bytes', bytes, 'waits', 1)
if ARGV[5] ~= '' then
  redis.call('HSET', K.group, 'arrays', ARGV[5])
end
redis.call('HINCRBY', K.backlog, 'bytes', bytes)
redis.call('ZADD', K.pendingGroups, ask.now, ARGV[1])
redis.call('HSET', K.run, 'last_accepted_at', ask.now)
if ask.lease then -- the item has come back
  local leased = get_state(K.leasedItems, ask.lease.position)
  if leased and leased.task == ask.lease.task then
    redis.call('ZREM', K.leaseExpiries, ask.lease.position)
    redis.call('HDEL', K.leasedItems, ask.lease.position)
  end
end
redis.call('HINCRBY', K.run, 'groups', 1)
redis.call('HINCRBY', K.run, 'rollouts', ask.rollouts)
return 'new'
