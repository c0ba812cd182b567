-- Settles samples: those whose response was sent count, others are dropped. Closes full groups and idle
-- groups.
-- KEYS  run (hash)  openGroups (sorted set: item by its latest sample)  pendingSamples (sorted set: `ITEM ID` by time)
--       closedGroups (sorted set: group ID by time)  openGroupTotals (hash)  countedRollouts (sorted set)
--       sampleProcesses (hash: process to its last sign of life, ms of the Redis clock)
-- ARGV  1 JSON: { epoch, revision, now (ms), group_size, for_buffer: whether groups wait for a trainer in the buffer,
--                 open_group_prefix, closed_group_prefix: prefixes of keys,
--                 delivered, undelivered: [[item, ID, token of the call]…] of one process,
--                 abandoned_before?: samples still pending from before that time belong to dead processes,
--                 idle_before?: groups without a sample since that time are closed, max_samples, max_groups: limits of one call,
--                 max_counted_rollouts, counted_rollouts_after: limits on remembered named samples, process_ttl_ms }
-- Returns nil if the epoch has ended, 'run_changed' if the settings have, or the IDs of the groups that it closed.
-- include parts/samples
-- include parts/close-group
-- include ../../../runs/scripts/parts/clock
local params = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if tonumber(run[1]) ~= params.epoch then
  return nil
end
if tonumber(run[2]) ~= params.revision then
  return 'run_changed'
end
local keys = {
  open_groups = K.openGroups, closed_groups = K.closedGroups, totals = K.openGroupTotals, counted_rollouts = K.countedRollouts,
  open_group_prefix = params.open_group_prefix, closed_group_prefix = params.closed_group_prefix,
}
local touched = {}

-- Whether an equal sample arrived after the last sign of life of its process. An earlier one is another rollout: a trainer
-- does not resend a sample whose response is in flight.
local function is_retried(pending)
  local heard_at = tonumber(redis.call('HGET', K.sampleProcesses, process_of(pending.call)) or 0)
  return pending.retried_at and pending.retried_at >= heard_at
end

local function settle(item, id, decide)
  local group = params.open_group_prefix .. item
  redis.call('ZREM', K.pendingSamples, item .. ' ' .. id)
  local json = redis.call('HGET', group, OPEN.pending_prefix .. id)
  if not json then
    return -- settled before
  end
  local pending = cjson.decode(json)
  local counts = decide(pending)
  if counts == nil then
    redis.call('ZADD', K.pendingSamples, params.now, item .. ' ' .. id)
    return
  end
  redis.call('HDEL', group, OPEN.pending_prefix .. id)
  redis.call('HINCRBY', group, OPEN.pending, -1)
  local field = OPEN.unmatched_prefix .. pending.content
  local unmatched = {}
  for _, other in ipairs(words(redis.call('HGET', group, field))) do
    if other ~= id then
      table.insert(unmatched, other)
    end
  end
  set_words(group, field, unmatched)
  if counts then
    local order = redis.call('HGET', group, OPEN.order)
    redis.call('HSET', group, OPEN.order, order and order .. ' ' .. id or id)
    redis.call('HINCRBY', group, OPEN.counted, 1)
  else
    local bytes = redis.call('HSTRLEN', group, OPEN.texts_prefix .. id)
    redis.call('HDEL', group, OPEN.texts_prefix .. id)
    redis.call('HINCRBY', group, OPEN.bytes, -bytes)
    redis.call('HINCRBY', K.openGroupTotals, TOTALS.bytes, -bytes)
  end
  touched[item] = true
end

local closed = {}
-- Closes as many groups of an item as its samples fill; also an incomplete one if no more samples are expected.
local function close_item(item, is_idle)
  local group = params.open_group_prefix .. item
  while true do
    local counts = redis.call('HMGET', group, OPEN.counted, OPEN.pending)
    local counted, pending = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
    if counted >= params.group_size then
      table.insert(closed, close_group(keys, item, params.group_size, params.for_buffer, params.now))
    elseif pending > 0 then
      return
    elseif counted == 0 then
      redis.call('UNLINK', group)
      redis.call('ZREM', K.openGroups, item)
      return
    elseif is_idle then
      table.insert(closed, close_group(keys, item, counted, params.for_buffer, params.now))
    else
      return
    end
  end
end

for _, sample in ipairs(params.delivered) do
  settle(sample[1], sample[2], function() return true end)
end
for _, sample in ipairs(params.undelivered) do
  settle(sample[1], sample[2], function(pending)
    if pending.call == sample[3] then
      return false
    end
    return nil -- sent again under its name: the answer to that call decides
  end)
end
local any = params.delivered[1] or params.undelivered[1]
if any then -- not first: a full Redis lets a script go on once it has written something that takes no memory
  redis.call('HSET', K.sampleProcesses, process_of(any[3]), clock_ms())
end
if params.abandoned_before then
  local members = redis.call('ZRANGEBYSCORE', K.pendingSamples, 0, params.abandoned_before, 'LIMIT', 0, params.max_samples)
  for _, member in ipairs(members) do
    local item, id = string.match(member, '^(%S+) (%S+)$')
    settle(item, id, function(pending) return not is_retried(pending) end) -- its answer may have left
  end
end
for item in pairs(touched) do
  close_item(item, false)
end
if params.idle_before then
  local items = redis.call('ZRANGEBYSCORE', K.openGroups, 0, params.idle_before, 'LIMIT', 0, params.max_groups)
  for _, item in ipairs(items) do
    close_item(item, true)
  end
  redis.call('ZREMRANGEBYSCORE', K.countedRollouts, 0, params.counted_rollouts_after)
  redis.call('ZREMRANGEBYRANK', K.countedRollouts, 0, -params.max_counted_rollouts - 1)
  local processes = redis.call('HGETALL', K.sampleProcesses)
  for k = 1, #processes, 2 do
    if tonumber(processes[k + 1]) < clock_ms() - params.process_ttl_ms then
      redis.call('HDEL', K.sampleProcesses, processes[k])
    end
  end
end
return closed
