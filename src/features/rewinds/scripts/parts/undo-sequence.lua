-- Takes back what a run has handed out since a recorded state. Positions that were open or requested then are so again, and
-- their items are made again. Included after sequence.lua.
-- KEYS  stepPositions (hash: number of a chunk to its steps)  questions (sorted set: question by position)
--       leaseExpiries (sorted set: position by end)  leasedItems (hash: position to its made state)

local EMPTY_RECORD = string.rep('\0', ISSUED.record_bytes)

-- Clears the records of issued items. `positions` is a set.
local function clear_issued(positions)
  local by_chunk = {}
  for position in pairs(positions) do
    local number, offset = place_of(tonumber(position))
    by_chunk[number] = by_chunk[number] or {}
    by_chunk[number][offset] = true
  end
  for number, offsets in pairs(by_chunk) do
    local chunk, records = get_chunk(number), {}
    for offset = 0, #chunk - ISSUED.record_bytes, ISSUED.record_bytes do
      table.insert(records, offsets[offset] and EMPTY_RECORD or string.sub(chunk, offset + 1, offset + ISSUED.record_bytes))
    end
    while records[#records] == EMPTY_RECORD do
      table.remove(records)
    end
    chunks[number] = table.concat(records)
    if records[1] then
      redis.call('HSET', K.issuedItems, number, chunks[number])
    else
      redis.call('HDEL', K.issuedItems, number)
    end
  end
end

local function clear_step(step)
  local number = string.format('%.0f', math.floor(tonumber(step) / ISSUED.steps_per_chunk))
  local rest = string.gsub(redis.call('HGET', K.stepPositions, number) or '', ';' .. step .. '=[^;]*', '')
  if rest == '' then
    redis.call('HDEL', K.stepPositions, number)
  else
    redis.call('HSET', K.stepPositions, number, rest)
  end
end

-- Frees the questions of positions whose items are to be made again.
local function clear_questions(unissued)
  if redis.call('EXISTS', K.questions) == 0 then
    return
  end
  for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, -1)) do
    unissued[position] = true
  end
  for _, position in ipairs(redis.call('HKEYS', K.requestedPositions)) do
    unissued[position] = true
  end
  local positions = {}
  for position in pairs(unissued) do
    table.insert(positions, tonumber(position))
  end
  table.sort(positions)
  local first
  for k, position in ipairs(positions) do
    first = first or position
    if positions[k + 1] ~= position + 1 then
      redis.call('ZREMRANGEBYSCORE', K.questions, string.format('%.0f', first), string.format('%.0f', position))
      first = nil
    end
  end
end

local function restore_leases(leases, unissued)
  if not leases then -- there were too many: those that are left stay
    for position in pairs(unissued) do
      redis.call('ZREM', K.leaseExpiries, position)
      redis.call('HDEL', K.leasedItems, position)
    end
    return
  end
  redis.call('UNLINK', K.leaseExpiries, K.leasedItems)
  for k = 1, #leases, 2 do
    local position, item = leases[k], get_issued(leases[k])
    if item and not item.failed then
      redis.call('ZADD', K.leaseExpiries, leases[k + 1], position)
      set_made(K.leasedItems, position, item)
    end
  end
end

local function undo_sequence(numbers, state, now)
  local unissued = {}
  for _, number in ipairs(numbers) do
    for _, entry in ipairs(redis.call('LRANGE', handed_out_key(K.stepStates, number), 0, -1)) do
      if string.sub(entry, 1, 1) == 's' then
        clear_step(string.sub(entry, 2))
      else
        unissued[entry] = true
      end
    end
  end
  clear_issued(unissued)
  restore_leases(state.leases, unissued)
  clear_questions(unissued)
  redis.call('UNLINK', K.openPositions, K.positionStates, K.itemBodies, K.requestedPositions)
  for _, position in ipairs(state.open) do
    redis.call('ZADD', K.openPositions, position, position)
    set_unmade(K.positionStates, position, now, state.drawn[position])
  end
  for _, position in ipairs(state.requested or {}) do
    set_unmade(K.requestedPositions, position, now, state.drawn[position])
  end
end
