-- Included by the scripts that move positions. sequence/positions.ts has the diagram of their states.
-- KEYS  run (hash), curriculum (hash)
--       openPositions (sorted set), positionStates (hash), itemBodies (hash: position to its item): the open positions
--       states (hash): states of the positions that a script is called for, either open or requested ones
--       requestedPositions (hash: position to its state): requested by a step or by number, and not issued yet
--       issuedItems (hash: number of a chunk to its records)  issuedTasks (list of the variants of tasks)
--       stepStates (sorted set: number of a recorded state of the run by step)
-- include position-state
-- include ../../../scripts/parts/step-states

-- The items that the run has issued, kept as long as it exists: each hash field has ISSUED.positions_per_chunk
-- positions of ISSUED.record_bytes bytes. issued-items.ts is the same codec in TypeScript. A record:
--   what (0: not issued, ISSUED.no_item: no item now or later, else 1 + retry, plus 128 without a difficulty),
--   number of the task in the list of tasks (2 bytes), difficulty (8 bytes), propensity (4 bytes, 0: unknown); little-endian
local RECORD_FORMAT = '<BHdf'
local chunks, task_names = {}, nil

local function get_chunk(number)
  chunks[number] = chunks[number] or redis.call('HGET', K.issuedItems, number) or ''
  return chunks[number]
end

-- Returns the number of the position's chunk and the offset of its record in bytes.
local function place_of(position)
  local offset = position % ISSUED.positions_per_chunk
  return (position - offset) / ISSUED.positions_per_chunk, offset * ISSUED.record_bytes
end

local function get_task_names()
  task_names = task_names or redis.call('LRANGE', K.issuedTasks, 0, -1)
  return task_names
end

-- Whether the item was issued, or the position will never have one.
local function is_issued(position)
  local number, offset = place_of(position)
  local chunk = get_chunk(number)
  return #chunk >= offset + ISSUED.record_bytes and string.byte(chunk, offset + 1) > 0 -- else its end is lost
end

-- Returns nil if the item is not issued, { failed } if the position has none, else { task, difficulty or '', retry, propensity }.
local function get_issued(position)
  if not is_issued(tonumber(position)) then
    return nil
  end
  local number, offset = place_of(tonumber(position))
  local chunk = get_chunk(number)
  local what = string.byte(chunk, offset + 1)
  if what == ISSUED.no_item then
    return { failed = true }
  end
  local _, task, difficulty, propensity = struct.unpack(RECORD_FORMAT, chunk, offset + 1)
  local item = { task = get_task_names()[task + 1], retry = what % 128 - 1, propensity = propensity }
  if not item.task then
    set_aside(K.issuedItems, position)
    return { failed = true }
  end
  item.difficulty = what < 128 and string.format('%.17g', difficulty) or ''
  return item
end

local task_numbers, numbered = {}, 0
local function task_number(task)
  local names = get_task_names()
  for k = numbered + 1, #names do
    task_numbers[names[k]] = k - 1
  end
  numbered = #names
  if not task_numbers[task] then
    numbered = redis.call('RPUSH', K.issuedTasks, task)
    names[numbered], task_numbers[task] = task, numbered - 1
  end
  return task_numbers[task]
end

local function pack_record(item)
  if item.failed then
    return struct.pack(RECORD_FORMAT, ISSUED.no_item, 0, 0, 0)
  end
  local what = 1 + tonumber(item.retry or 0) + (item.difficulty == '' and 128 or 0)
  return struct.pack(RECORD_FORMAT, what, task_number(item.task), tonumber(item.difficulty) or 0, item.propensity or 0)
end

-- Stores issued items with their positions, in the format of get_issued.
local function put_issued(items)
  local changed, positions = {}, {}
  for k, item in ipairs(items) do
    positions[k] = string.format('%.0f', item.position)
    local number, offset = place_of(tonumber(item.position))
    local chunk = get_chunk(number)
    local before = string.sub(chunk, 1, offset) .. string.rep('\0', offset - #chunk)
    chunks[number] = before .. pack_record(item) .. string.sub(chunk, offset + ISSUED.record_bytes + 1)
    changed[number] = true
  end
  for number in pairs(changed) do
    redis.call('HSET', K.issuedItems, number, chunks[number])
  end
  log_handed_out(K.run, K.stepStates, positions)
end

-- Whether the item of a position was issued or requested.
local function is_requested_or_issued(position)
  return is_issued(position) or redis.call('HEXISTS', K.requestedPositions, position) == 1
end

-- Opens positions until `count` are open or LIMITS.walk were skipped. The run's field `position` is the first position
-- that was never opened, `requested_end` the first one after all that were requested by number.
local function open_positions(count, now)
  local missing = math.min(count, LIMITS.open_positions) - redis.call('ZCARD', K.openPositions)
  if missing <= 0 then
    return
  end
  local run = redis.call('HMGET', K.run, RUN.position, RUN.requested_end)
  local position, requested_end = tonumber(run[1] or 0), tonumber(run[2] or 0)
  local walk_end = position + LIMITS.walk
  while missing > 0 and position < walk_end do
    if position >= requested_end or not is_requested_or_issued(position) then
      redis.call('ZADD', K.openPositions, position, position)
      set_unmade(K.positionStates, position, now)
      missing = missing - 1
    end
    position = position + 1
  end
  redis.call('HSET', K.run, RUN.position, string.format('%.0f', position))
end

local function close_position(position)
  redis.call('ZREM', K.openPositions, position)
  redis.call('HDEL', K.positionStates, position)
  redis.call('HDEL', K.itemBodies, position)
end

-- Tells those who wait for the item of a position that it is made, or that it is to be made again or replaced.
local function announce(change)
  redis.call('PUBLISH', change.channel, K.openPositions .. '/' .. change.position)
end

local levels = {}

-- Returns the level of a task's curriculum, or nil if it never moved.
local function level_of(task)
  if levels[task] == nil then
    local json = redis.call('HGET', K.curriculum, task)
    levels[task] = json and tonumber((read_object(json) or {}).level) or false
    if json and not levels[task] then
      set_aside(K.curriculum, task)
    end
  end
  return levels[task] or nil
end

-- Returns the difficulty to label a made item with ('' for none), or nil if the item is not made or the curriculum has
-- left its rung. The label is the current level: the item is the same on the whole rung, but a group with an old label
-- would not count. An item that explores keeps its label, but is made again if its propensity has changed, because the
-- curriculum has reached its rung or left it.
local function current_difficulty(state)
  if not is_made(state) then
    return nil
  end
  local level = state.ladder and level_of(state.task)
  if not level then
    return state.difficulty or ''
  end
  local ladder = state.ladder
  level = math.min(math.max(level, ladder.low), ladder.high)
  local is_chosen = level >= ladder.from and level < ladder.to
  if is_chosen == (ladder.explored == 'other') then
    return nil
  end
  if ladder.explored then
    return state.difficulty
  end
  return string.format('%.17g', level)
end
