-- Records samples before their responses are sent. Needs K of write-samples, params, and the parts samples and passes.

-- What all records of one call read and change, written once by `close_records`.
local records = { bytes = 0, touched = {}, pending = {} }

local function open_records()
  records.open = redis.call('ZCARD', K.openGroups)
  records.closed = redis.call('ZCARD', K.closedGroups)
  records.stored_bytes = tonumber(redis.call('HGET', K.openGroupTotals, TOTALS.bytes) or 0)
  read_places()
end

local function close_records()
  if #records.touched == 0 then
    return
  end
  redis.call('ZADD', K.openGroups, unpack(records.touched))
  redis.call('ZADD', K.pendingSamples, unpack(records.pending))
  redis.call('HINCRBY', K.openGroupTotals, TOTALS.bytes, records.bytes)
  write_places()
end

-- Whether an equal sample arrived after the last sign of life of its process. An earlier one is another rollout: a trainer
-- does not resend a sample whose response is in flight.
local function is_retried(pending)
  if not pending.call then
    return false
  end
  local heard_at = tonumber(redis.call('HGET', K.sampleProcesses, process_of(pending.call)) or 0)
  return pending.retried_at and pending.retried_at >= heard_at
end

-- An equal sample that another process recorded and has not settled: if that process is dead, this sample is the retry, unless
-- another one is. Returns the IDs of the samples with the content.
local function match_retry(group, id, text)
  local equal, is_matched = words(text), false
  for _, other in ipairs(equal) do
    if not is_matched and process_of(other) ~= process_of(id) then
      local pending = read_pending(group, other, redis.call('HGET', group, OPEN.pending_prefix .. other))
      if pending.call and not is_retried(pending) then
        pending.retried_at = heard_at
        redis.call('HSET', group, OPEN.pending_prefix .. other, cjson.encode(pending))
        is_matched = true
      end
    end
  end
  table.insert(equal, id)
  return table.concat(equal, ' ')
end

-- Returns 'gathered', 'duplicate' (that name is already recorded), or 'limit' (not recorded).
local function record(sample, rollout)
  local id, call, content = sample.id, sample.call, sample.content
  local group = params.open_group_prefix .. sample.item
  local stored = redis.call('HMGET', group, OPEN.pending_prefix .. id, OPEN.item_id, OPEN.pending, OPEN.bytes, OPEN.counted,
    OPEN.last_place, OPEN.widest_gap, OPEN.cut, OPEN.unmatched_prefix .. content)
  local member = sample.item .. ' ' .. id
  if stored[1] then -- sent again under its name, or this very call noted it and did not hear the reply
    local pending = read_pending(group, id, stored[1])
    local is_same_call = pending.call == call
    pending.call, pending.content = call, content
    redis.call('ZADD', K.pendingSamples, params.now, member)
    redis.call('HSET', group, OPEN.pending_prefix .. id, cjson.encode(pending))
    return is_same_call and 'gathered' or 'duplicate'
  end
  if redis.call('HEXISTS', group, OPEN.texts_prefix .. id) == 1 then
    return 'duplicate'
  end
  if sample.is_named and redis.call('ZSCORE', K.countedRollouts, id) then
    return 'duplicate'
  end
  if tonumber(stored[3] or 0) >= params.max_pending then
    return 'limit'
  end
  if not stored[2] and records.open + records.closed >= params.max_open_groups then
    return 'limit'
  end
  if records.stored_bytes + records.bytes + #rollout > params.max_bytes then
    return 'limit'
  end
  local changes = { OPEN.item_id, sample.item_id, OPEN.texts_prefix .. id, rollout, OPEN.reward_prefix .. id, sample.reward,
    OPEN.pending_prefix .. id, cjson.encode({ call = call, content = content }), OPEN.pending, tonumber(stored[3] or 0) + 1,
    OPEN.bytes, tonumber(stored[4] or 0) + #rollout }
  local pending, counted = tonumber(stored[3] or 0), tonumber(stored[5] or 0)
  note_place(changes, sample, { counted = counted, pending = pending, last = tonumber(stored[6]), widest = tonumber(stored[7] or 0), is_cut = stored[8] })
  if not sample.is_named then
    push(changes, OPEN.unmatched_prefix .. content, match_retry(group, id, stored[9]))
  end
  redis.call('HSET', group, unpack(changes))
  if not stored[2] then
    redis.call('ZADD', K.openGroups, params.now, sample.item)
    records.open = records.open + 1
  end
  push(records.touched, params.now, sample.item)
  push(records.pending, params.now, member)
  records.bytes = records.bytes + #rollout
  return 'gathered'
end
