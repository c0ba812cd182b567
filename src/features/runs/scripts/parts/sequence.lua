-- Included by the scripts that walk a run's sequence. A position is open from when it is planned until its item is handed
-- out. heads holds its state: '-OPENED:UNTIL:TRIES:TASK' while its item is not there (opened at, being made until, tries
-- that passed the deadline; times in ms; the task that was drawn for it before, or nothing), else
-- 'TASK|RUNGS|LOW|HIGH|LEVEL' (RUNGS 0: the curriculum does not place it).
local function head_of(heads, position)
  return redis.call('HGET', heads, position) or '-0:0:0:'
end

-- The state of a position whose item is to be made anew. Where the sampling follows the model it keeps the task it had.
local function anew(now, head)
  return '-' .. now .. ':0:0:' .. head:match('^[^|]*')
end

-- Nobody asks for more than a fraction of it; a checkpoint could, and a script that walks for long stops everybody.
local OPEN_MAX = 2000

-- Opens positions until `ahead` are open; the run's cursor is the next that never was.
local function open_until(run, open, heads, ahead, now)
  local missing = math.min(ahead, OPEN_MAX) - redis.call('ZCARD', open)
  if missing <= 0 then
    return
  end
  local first = redis.call('HINCRBY', run, 'position', missing) - missing
  for k = 0, missing - 1 do
    redis.call('ZADD', open, first + k, first + k)
    redis.call('HSET', heads, first + k, '-' .. now .. ':0:0:')
  end
end

-- The level of a task's curriculum, within its bounds.
local function level_of(curriculum, task, low, high)
  local state = redis.call('HGET', curriculum, task)
  local level = state and tonumber(cjson.decode(state).level) or 0.3
  return math.min(math.max(level, tonumber(low)), tonumber(high))
end

local function rung_of(level, rungs)
  return math.floor(level * (rungs - 1) + 0.5)
end

-- Task and label ('' for none) of a prepared item, or nothing if it is not there or the curriculum has left its rung. The
-- label is the level of now: on one rung the item is the same, and a group of an old label would not count.
local function placed(head, curriculum)
  if head:sub(1, 1) == '-' then
    return nil
  end
  local task, rungs, low, high, level = head:match('^([^|]*)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  if rungs == '0' then
    return task, level
  end
  local current = level_of(curriculum, task, low, high)
  if rung_of(current, tonumber(rungs)) ~= rung_of(tonumber(level), tonumber(rungs)) then
    return nil
  end
  return task, string.format('%.17g', current)
end
