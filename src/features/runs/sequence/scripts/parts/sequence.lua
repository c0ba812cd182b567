-- Included by the scripts that move positions. position-repository.ts has the diagram of their states.
-- KEYS  run (hash), curriculum (hash)
--       openPositions (sorted set), positionStates (hash), itemBodies (hash of position to its item): the open positions
--       states, bodies (hashes): those of the positions that a script is called for, the open ones or a step's
-- include position-state

-- Opens positions until `count` are open. The run's field `position` is the first that was never opened.
local function open_positions(count, now)
  local missing = math.min(count, LIMITS.open_positions) - redis.call('ZCARD', K.openPositions)
  if missing <= 0 then
    return
  end
  local first = redis.call('HINCRBY', K.run, RUN.position, missing) - missing
  for position = first, first + missing - 1 do
    redis.call('ZADD', K.openPositions, position, position)
    set_unmade(K.positionStates, position, now)
  end
end

local function close_position(position)
  redis.call('ZREM', K.openPositions, position)
  redis.call('HDEL', K.positionStates, position)
  redis.call('HDEL', K.itemBodies, position)
end

local levels = {}

-- The level of a task's curriculum; nil if it never moved.
local function level_of(task)
  if levels[task] == nil then
    local json = redis.call('HGET', K.curriculum, task)
    levels[task] = json and tonumber(cjson.decode(json).level) or false
  end
  return levels[task] or nil
end

-- The difficulty to label a made item with ('' for none); nil if the item is not made, or the curriculum has left its
-- rung since. The label is the level of now: on one rung the item is the same, and a group of an old label would not count.
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

-- Moves an open position to the step that K.states and K.bodies are of, with its item if that is made.
local function assign_to_step(position, now)
  local state = get_state(K.positionStates, position)
  local difficulty = current_difficulty(state)
  if difficulty then
    set_made(K.states, position, state.task, difficulty, state.retry)
    redis.call('HSET', K.bodies, position, redis.call('HGET', K.itemBodies, position))
    redis.call('PEXPIRE', K.bodies, LIMITS.step_body_ms)
  else
    set_unmade(K.states, position, now, state.task)
  end
  close_position(position)
end
