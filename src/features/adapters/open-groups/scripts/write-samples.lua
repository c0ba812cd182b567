-- Settles samples whose responses were sent, or whose clients disconnected, and then records samples whose responses are about to
-- be sent. A settled sample counts if its response was sent, else it is dropped. Closes full groups and idle groups.
-- KEYS  run (hash)  openGroups (sorted set: item by its latest sample)  pendingSamples (sorted set: `ITEM ID` by time)
--       closedGroups (sorted set: group ID by time)  openGroupTotals (hash)
--       countedRollouts (sorted set: IDs of named samples of groups that are closed)
--       sampleProcesses (hash: process to its last sign of life, ms of the Redis clock)  groupSizes (hash)
-- ARGV  1 JSON: { epoch, revision, now (ms), group_size, for_buffer: whether groups wait for a trainer in the buffer,
--                 open_group_prefix, closed_group_prefix: prefixes of keys,  id_prefix: of the IDs of closed groups,
--                 delivered, undelivered: [[item, ID, token of the call]…] of one process,
--                 records: [{ item: key of the item, item_id, id: of the sample, call: token of the call that brought it,
--                   arrived: when its call arrived (ms), content: hash of its content, is_named: whether the client named the rollout,
--                   reward: a number as text, or '' if it could not be scored, size?: samples of a group, if the trainer says so }…],
--                   of the same process,  max_open_groups: limit on open and closed groups, max_bytes: limit on their rollouts,
--                 max_pending: limit on the pending samples of one open group,
--                 abandoned_before?: samples still pending from before that time belong to dead processes,
--                 idle_before?: groups without a sample since that time are closed, max_samples, max_groups: limits of one call,
--                 max_counted_rollouts, counted_rollouts_after: limits on remembered named samples, process_ttl_ms }
--       2 and on: the packed rollout of each record
-- Returns nil if the epoch has ended, 'run_changed' if the settings have, or { IDs of the groups that it closed, for each record:
-- 'gathered', 'duplicate' (that name is already recorded) or 'limit' (not recorded) }.
-- include parts/samples
-- include ../../../runs/scripts/parts/clock
local params = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if tonumber(run[1]) ~= params.epoch then
  return nil
end
if tonumber(run[2]) ~= params.revision then
  return 'run_changed'
end
local heard_at = clock_ms()
if params.records[1] then -- first: a full Redis rejects it, but would let a script go on that has freed something
  redis.call('HSET', K.sampleProcesses, process_of(params.records[1].call), heard_at)
end
-- include parts/passes
-- include parts/recording
local touched = {}
local sent = redis.call('HMGET', K.groupSizes, SIZES.sent_size, SIZES.sent_size_for)
local usual_size = tonumber(sent[2] or 0) == params.group_size and tonumber(sent[1]) or params.group_size

-- Notes how a group was closed: `full`, `wide` if a pause in it was far longer than is usual, or the number of samples that an
-- incomplete group had.
local function note_closing(word)
  local known = redis.call('HMGET', K.groupSizes, SIZES.recent, SIZES.recent_for)
  local recent = tonumber(known[2] or 0) == params.group_size and words(known[1]) or {}
  table.insert(recent, word)
  while #recent > 50 do
    table.remove(recent, 1)
  end
  redis.call('HSET', K.groupSizes, SIZES.recent, table.concat(recent, ' '), SIZES.recent_for, params.group_size)
end

local function is_wide(widest)
  return widest > math.max(32, 20 * tonumber(redis.call('HGET', K.groupSizes, SIZES.usual_gap) or 1))
end

-- Closes an open group: its first samples become a closed group with a permanent ID; the others begin the item's next group.
-- size  number of counted samples that the closed group takes;  is_full: whether the trainer sends no more of them
-- Returns the ID.
local function close_group(item, size, is_full)
  local open = params.open_group_prefix .. item
  local number = redis.call('HINCRBY', K.openGroupTotals, TOTALS.closed, 1)
  local id = params.id_prefix .. item .. '-' .. string.format('%.0f', params.epoch) .. '-' .. number -- a restored run counts from 1 again
  local closed = params.closed_group_prefix .. id
  local stored = redis.call('HMGET', open, OPEN.item_id, OPEN.order, OPEN.pending, OPEN.bytes, OPEN.widest_gap, OPEN.last_place, OPEN.size)
  note_closing(not is_full and tostring(size) or is_wide(tonumber(stored[5] or 0)) and 'wide' or 'full')
  local taken, left = {}, {}
  for k, sample in ipairs(words(stored[2])) do
    table.insert(k <= size and taken or left, sample)
  end
  local pending, bytes = tonumber(stored[3] or 0), tonumber(stored[4]) or 0
  -- The side with more samples keeps the hash, so that of thousands few are copied.
  local stays = #left + pending > #taken
  local from, to = closed, open
  if stays then
    from, to = open, closed
  else
    redis.call('RENAME', open, closed)
  end
  local moved_bytes = 0
  local function move(field)
    local value = redis.call('HGET', from, field)
    if not value then
      set_aside(from, field)
      return 0
    end
    redis.call('HSET', to, field, value)
    redis.call('HDEL', from, field)
    return #value
  end
  local function move_sample(id)
    moved_bytes = moved_bytes + move(OPEN.texts_prefix .. id)
    if redis.call('HEXISTS', from, OPEN.reward_prefix .. id) == 1 then -- earlier versions recorded none
      move(OPEN.reward_prefix .. id)
    end
  end
  for _, sample in ipairs(stays and taken or left) do
    move_sample(sample)
  end
  if pending > 0 and not stays then
    for _, field in ipairs(redis.call('HKEYS', closed)) do
      if string.sub(field, 1, #OPEN.pending_prefix) == OPEN.pending_prefix then
        move_sample(string.sub(field, #OPEN.pending_prefix + 1))
        move(field)
      elseif string.sub(field, 1, #OPEN.unmatched_prefix) == OPEN.unmatched_prefix then
        move(field)
      end
    end
  end
  local closed_bytes = stays and moved_bytes or bytes - moved_bytes
  if #left + pending > 0 then
    redis.call('HDEL', open, OPEN.widest_gap, OPEN.cut)
    redis.call('HSET', open, OPEN.item_id, stored[1], OPEN.pending, pending, OPEN.bytes, bytes - closed_bytes, OPEN.counted, #left,
      OPEN.last_place, stored[6] or 0)
    if stored[7] then
      redis.call('HSET', open, OPEN.size, stored[7])
    end
    set_words(open, OPEN.order, left)
  else
    redis.call('ZREM', K.openGroups, item)
  end
  redis.call('HDEL', closed, OPEN.pending, OPEN.counted)
  if stays and stored[1] then
    redis.call('HSET', closed, OPEN.item_id, stored[1])
  end
  redis.call('HSET', closed, OPEN.order, table.concat(taken, ' '), OPEN.bytes, closed_bytes,
    OPEN.for_buffer, params.for_buffer and 1 or 0, OPEN.closed_at, params.now)
  redis.call('ZADD', K.closedGroups, params.now, id)
  for _, sample in ipairs(taken) do
    if string.sub(sample, 1, 4) == 'key.' then
      redis.call('ZADD', K.countedRollouts, params.now, sample)
    end
  end
  return id
end

local function decide_on(item, id, decide)
  local group = params.open_group_prefix .. item
  redis.call('ZREM', K.pendingSamples, item .. ' ' .. id)
  local json = redis.call('HGET', group, OPEN.pending_prefix .. id)
  if not json then
    return -- decided before
  end
  local pending = read_pending(group, id, json)
  local counts = decide(pending)
  if counts == nil then
    redis.call('ZADD', K.pendingSamples, params.now, item .. ' ' .. id)
    return
  end
  local field = OPEN.unmatched_prefix .. (pending.content or '')
  local stored = redis.call('HMGET', group, OPEN.pending, OPEN.order, OPEN.counted, field)
  local changes = { OPEN.pending, tonumber(stored[1] or 0) - 1 }
  local unmatched = {}
  for _, other in ipairs(words(stored[4])) do
    if other ~= id then
      table.insert(unmatched, other)
    end
  end
  if #unmatched > 0 then
    push(changes, field, table.concat(unmatched, ' '))
    redis.call('HDEL', group, OPEN.pending_prefix .. id)
  else
    redis.call('HDEL', group, OPEN.pending_prefix .. id, field)
  end
  if counts then
    push(changes, OPEN.order, stored[2] and stored[2] .. ' ' .. id or id, OPEN.counted, tonumber(stored[3] or 0) + 1)
  else
    local bytes = redis.call('HSTRLEN', group, OPEN.texts_prefix .. id)
    redis.call('HDEL', group, OPEN.texts_prefix .. id, OPEN.reward_prefix .. id)
    redis.call('HINCRBY', group, OPEN.bytes, 0 - bytes) -- not -0, if the text is missing
    redis.call('HINCRBY', K.openGroupTotals, TOTALS.bytes, 0 - bytes)
  end
  redis.call('HSET', group, unpack(changes))
  touched[item] = true
end

local closed = {}
-- Closes as many groups of an item as its samples fill; also an incomplete one if no more samples are expected.
local function close_item(item, is_idle)
  local group = params.open_group_prefix .. item
  while true do
    local counts = redis.call('HMGET', group, OPEN.counted, OPEN.pending, OPEN.size, OPEN.cut)
    local counted, pending = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
    local size, cut = tonumber(counts[3]) or usual_size, tonumber(counts[4])
    if cut and counted > 0 then
      table.insert(closed, close_group(item, math.min(cut, counted), cut >= size))
    elseif counted >= size then
      table.insert(closed, close_group(item, size, true))
    elseif pending > 0 then
      return
    elseif counted == 0 then
      redis.call('UNLINK', group)
      redis.call('ZREM', K.openGroups, item)
      return
    elseif is_idle then
      table.insert(closed, close_group(item, counted, false))
    else
      return
    end
  end
end

for _, sample in ipairs(params.delivered) do
  decide_on(sample[1], sample[2], function() return true end)
end
for _, sample in ipairs(params.undelivered) do
  decide_on(sample[1], sample[2], function(pending)
    if pending.call == sample[3] then
      return false
    end
    return nil -- sent again under its name: the answer to that call decides
  end)
end
local any = params.delivered[1] or params.undelivered[1]
if any then -- not first: a full Redis lets a script go on once it has written something that takes no memory
  redis.call('HSET', K.sampleProcesses, process_of(any[3]), heard_at)
end
if params.abandoned_before then
  local members = redis.call('ZRANGEBYSCORE', K.pendingSamples, 0, params.abandoned_before, 'LIMIT', 0, params.max_samples)
  for _, member in ipairs(members) do
    local item, id = string.match(member, '^(%S+) (%S+)$')
    if item then
      decide_on(item, id, function(pending) return not is_retried(pending) end) -- its answer may have left
    else
      redis.call('ZREM', K.pendingSamples, member)
      set_aside(K.pendingSamples, member)
    end
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
    if (tonumber(processes[k + 1]) or 0) < heard_at - params.process_ttl_ms then
      redis.call('HDEL', K.sampleProcesses, processes[k])
    end
  end
end
local results = {}
if params.records[1] then
  open_records()
  for k, sample in ipairs(params.records) do
    results[k] = record(sample, ARGV[k + 1])
  end
  close_records()
end
return { closed, results }
