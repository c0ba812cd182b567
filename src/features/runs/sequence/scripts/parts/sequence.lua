-- Included by the scripts that move positions. position-repository.ts has the diagram of their states.
-- KEYS  run (hash), curriculum (hash)
--       openPositions (sorted set), positionStates (hash), itemBodies (hash: position to its item): the open positions
--       states (hash): states of the positions that a script is called for, either open or requested ones
--       requestedPositions (hash: position to its state): requested by a step or by number, and not issued yet
-- include position-state
-- include issued-items

-- Whether the item of a position was issued or requested.
local function is_taken(position)
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
    if position >= requested_end or not is_taken(position) then
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

local levels = {}

-- Returns the level of a task's curriculum, or nil if it never moved.
local function level_of(task)
  if levels[task] == nil then
    local json = redis.call('HGET', K.curriculum, task)
    levels[task] = json and tonumber(cjson.decode(json).level) or false
  end
  return levels[task] or nil
end

-- Returns the difficulty to label a made item with ('' for none), or nil if the item is not made or the curriculum has
-- left its rung. The label is the current level: the item is the same on the whole rung, but a group with an old label
-- would not count.
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
  if level < ladder.from or level >= ladder.to then
    return nil
  end
  return string.format('%.17g', level)
end
