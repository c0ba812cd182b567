-- Voids the groups that a run has completed since a recorded state, and those that wait for a worker or a trainer. Included
-- after retire-group.lua.
-- KEYS  run, backlog (hashes)  retainedTexts (list)
--       pendingGroups, buffer, retainedGroups, failedGroups, allGroups, rewoundGroups (sorted sets)  groupSummaries (hash)

local CLOCK_MARGIN_MS = 60000 -- of processes, in place of a second clock of each group
local REWINDS_STRIDE = 2 ^ 32 -- more than the groups of a run

local function void_groups(params, completed_then, time, rewinds)
  local keys = {
    run = K.run, backlog = K.backlog, retained_texts = K.retainedTexts, all_groups = K.allGroups,
  }
  local counts = { groups = 0, queued = redis.call('ZCARD', K.pendingGroups), buffered = redis.call('ZCARD', K.buffer) }
  local voided, new_ids, void_numbers, expiries, freed = {}, {}, {}, {}, 0

  -- Returns an ID under which a completed group stays readable, or nil if those it may have are taken: a client may have posted
  -- groups of these names, and long IDs may differ only at their ends, which are cut off.
  local function name_void(id, number)
    local start = 'rewound-' .. rewinds .. '-'
    for _, prefix in ipairs({ start, start .. string.format('%.0f-', number) }) do
      local new_id = string.sub(prefix .. id, 1, 128)
      if redis.call('EXISTS', params.group_key_prefix .. new_id) == 0 then
        return new_id
      end
    end
  end

  -- Its own ID is free for the group that takes its place.
  local function keep_void(id, new_id, number, is_awaited, expires_at)
    new_ids[id] = new_id
    for _, prefix in ipairs({ params.group_key_prefix, params.texts_key_prefix, params.arrays_key_prefix }) do
      if redis.call('EXISTS', prefix .. id) == 1 then
        redis.call('RENAME', prefix .. id, prefix .. new_id)
      end
    end
    redis.call('HSET', params.group_key_prefix .. new_id, GROUP.destination, 'rewound')
    table.insert(void_numbers, string.format('%.0f', rewinds * REWINDS_STRIDE + number))
    table.insert(void_numbers, new_id)
    if is_awaited then
      retire_group(keys, params, new_id)
    else
      table.insert(expiries, expires_at)
      table.insert(expiries, new_id)
    end
  end

  local function void_group(id, expires_at)
    local key = params.group_key_prefix .. id
    local group = redis.call('HMGET', key, GROUP.status, GROUP.completion_number, GROUP.awaiting_delivery,
      GROUP.metadata, GROUP.bytes)
    local number = tonumber(group[2])
    if group[1] ~= 'queued' and number and number <= completed_then then
      if group[3] and group[1] == 'scored' then
        if redis.call('ZSCORE', K.buffer, id) then -- it counts, but no batch will have it
          redis.call('HSET', key, GROUP.destination, 'rewound')
        end
        retire_group(keys, params, id)
      end
      return
    end
    table.insert(voided, id)
    local new_id = group[1] ~= 'queued' and number and group[4] and name_void(id, number)
    if new_id then
      keep_void(id, new_id, number, group[3], expires_at)
    else
      freed = freed + (group[3] and tonumber(group[5]) or 0)
      delete_payload(params, id)
      redis.call('UNLINK', key)
    end
  end

  local since = time - CLOCK_MARGIN_MS + params.duplicate_detection_ms
  local groups = redis.call('ZRANGE', K.allGroups, since, '+inf', 'BYSCORE', 'WITHSCORES')
  for k = 1, #groups, 2 do
    if not redis.call('ZSCORE', K.rewoundGroups, groups[k]) then
      void_group(groups[k], groups[k + 1])
    end
  end
  counts.groups = #voided
  for _, key in ipairs({ K.allGroups, K.retainedGroups, K.failedGroups }) do
    call_in_parts('ZREM', key, voided)
  end
  call_in_parts('ZADD', K.allGroups, expiries)
  call_in_parts('ZADD', K.rewoundGroups, void_numbers)
  local texts = redis.call('LRANGE', K.retainedTexts, 0, -1)
  for place, entry in ipairs(texts) do
    local start, id = string.match(entry, '^(%d+ )(.*)$')
    texts[place] = new_ids[id] and start .. new_ids[id] or entry
  end
  redis.call('UNLINK', K.retainedTexts)
  call_in_parts('RPUSH', K.retainedTexts, texts)
  local excess = redis.call('ZCARD', K.rewoundGroups) - params.max_retained_groups
  for _, id in ipairs(excess > 0 and redis.call('ZRANGE', K.rewoundGroups, 0, excess - 1) or {}) do
    delete_payload(params, id)
    redis.call('UNLINK', params.group_key_prefix .. id)
    redis.call('ZREM', K.rewoundGroups, id)
    redis.call('ZREM', K.allGroups, id)
  end
  redis.call('UNLINK', K.pendingGroups, K.buffer, K.groupSummaries)
  for _, field in ipairs({ BACKLOG.queued_groups, BACKLOG.queued_rollouts, BACKLOG.buffered_rollouts,
    BACKLOG.buffered_scored_rollouts, BACKLOG.open_batch_groups }) do
    redis.call('HSET', K.backlog, field, 0)
  end
  redis.call('HINCRBY', K.backlog, BACKLOG.bytes, 0 - freed) -- failed groups keep theirs
  return counts
end
