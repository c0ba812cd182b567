-- Accepts a group: stores it and notes it as pending, both or neither. A group sent twice is accepted once.
-- KEYS  1 run (hash)  2 group (hash)  3 pending (sorted set: group id by time)  4 buffer (sorted set)  5 stock (hash)
--       6 leases (sorted set: position by end)  7 leased (hash: position to 'TASK|LABEL')
-- ARGV  1 group id  2 hash of the content  3 about: the small record  4 texts  5 arrays
--       6 JSON: { epoch, revision, now (ms), rollouts, wants: whether it wants to wait for a trainer,
--                 most: groups queued, buffered and in open batches, full: there is no room for any new group,
--                 lease?: { position, task } of its item, if the run's sequence may have it }
-- Gives 'new', 'known' (the same content was accepted before), 'conflict' (other content), 'full', or 'changed' (the run
-- is not as the caller thinks: its settings were changed, it was restored or removed).
local ask = cjson.decode(ARGV[6])
local run = redis.call('HMGET', KEYS[1], 'epoch', 'revision')
if tonumber(run[1]) ~= ask.epoch or tonumber(run[2]) ~= ask.revision then
  return 'changed'
end
local content = redis.call('HGET', KEYS[2], 'content')
if content then
  return content == ARGV[2] and 'known' or 'conflict'
end
if ask.full then
  return 'full'
end
if ask.wants then
  local stock = redis.call('HMGET', KEYS[5], 'queued_groups', 'open_groups')
  local waiting = tonumber(stock[1] or 0) + redis.call('ZCARD', KEYS[4]) + tonumber(stock[2] or 0)
  if waiting >= ask.most then
    return 'full'
  end
  redis.call('HINCRBY', KEYS[5], 'queued_groups', 1)
  redis.call('HINCRBY', KEYS[5], 'queued_rollouts', ask.rollouts)
end
local bytes = #ARGV[4] + #ARGV[5]
redis.call('HSET', KEYS[2], 'content', ARGV[2], 'about', ARGV[3], 'texts', ARGV[4], 'status', 'queued',
  'accepted', ask.now, 'rollouts', ask.rollouts, 'wants', ask.wants and 1 or 0, 'bytes', bytes, 'waits', 1)
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[2], 'arrays', ARGV[5])
end
redis.call('HINCRBY', KEYS[5], 'bytes', bytes)
redis.call('ZADD', KEYS[3], ask.now, ARGV[1])
redis.call('HSET', KEYS[1], 'last_accepted_at', ask.now)
if ask.lease then -- the item has come back
  local leased = redis.call('HGET', KEYS[7], ask.lease.position)
  if leased and leased:sub(1, #ask.lease.task + 1) == ask.lease.task .. '|' then
    redis.call('ZREM', KEYS[6], ask.lease.position)
    redis.call('HDEL', KEYS[7], ask.lease.position)
  end
end
redis.call('HINCRBY', KEYS[1], 'groups', 1)
redis.call('HINCRBY', KEYS[1], 'rollouts', ask.rollouts)
return 'new'
