-- Moves the curriculum by the rule and the constants of the original environment: of the last 10 scores, the last 5
-- count, once there are 3. The step is 0.05 times the stability, or 0.1 times for a stable model far from the target.
-- Numbers are stored as text with 17 digits, so that a level stays the same double after a round trip through JSON.
-- keys   run (hash), curriculum (hash: task to its JSON), history (list of JSON points, newest first)
-- group  { score, difficulty, starting_level, target_accuracy, low, high }: mean score, difficulty of the item,
--        level of a task that never moved, target accuracy, and bounds of the level;  step: the trainer's;
--        now: ISO 8601;  max_points: limit of the history
-- Returns the level before and after, or nothing if the group's difficulty was too far from the level.
-- include ../../../../../platform/redis/scripts/parts/unreadable

-- Returns nil if the task never moved, or if its state cannot be read: the task then starts again.
local function read_curriculum(key, task)
  local json = redis.call('HGET', key, task)
  local state = json and read_object(json)
  local is_readable = state and tonumber(state.level) and type(state.scores) == 'table'
  for _, score in ipairs(is_readable and state.scores or {}) do
    is_readable = is_readable and tonumber(score)
  end
  if json and not is_readable then
    set_aside(key, task)
  end
  return is_readable and state or nil
end

local function update_curriculum(keys, task, group, step, now, max_points)
  local state = read_curriculum(keys.curriculum, task) or { level = group.starting_level, scores = {} }
  local level = math.min(math.max(tonumber(state.level), group.low), group.high)
  if math.abs(group.difficulty - level) > 0.05 + 1e-9 then
    return -- a late group of another difficulty would mislead it
  end
  local before = string.format('%.17g', level)
  local scores = state.scores
  table.insert(scores, string.format('%.17g', group.score))
  if #scores > 10 then
    table.remove(scores, 1)
  end
  local first = math.max(1, #scores - 4)
  local n, sum, squares = #scores - first + 1, 0, 0
  for k = first, #scores do
    sum = sum + tonumber(scores[k])
  end
  local accuracy = sum / n
  for k = first, #scores do
    squares = squares + (tonumber(scores[k]) - accuracy) ^ 2
  end
  if #scores >= 3 then
    local stability = math.max(0.5, 1 - math.sqrt(squares / n))
    local adjustment = 0
    if accuracy > group.target_accuracy + 0.05 then
      adjustment = 0.05 * stability
    elseif accuracy < group.target_accuracy - 0.05 then
      adjustment = -0.05 * stability
    end
    if stability > 0.8 and accuracy > 0.9 and level < 0.5 then
      adjustment = 0.1 * stability
    elseif stability > 0.8 and accuracy < 0.3 and level > 0.5 then
      adjustment = -0.1 * stability
    end
    level = math.min(math.max(level + adjustment, group.low), group.high)
  end
  state.level = string.format('%.17g', level)
  state.accuracy = string.format('%.17g', accuracy)
  redis.call('HSET', keys.curriculum, task, cjson.encode(state))
  local point = string.format(
    '{"time":"%s","step":%d,"task":"%s","score":%.17g,"difficulty":%.17g,"accuracy":%.17g}',
    now, step, task, group.score, level, accuracy
  )
  redis.call('LPUSH', keys.history, point)
  redis.call('LTRIM', keys.history, 0, max_points - 1)
  redis.call('HINCRBY', keys.run, RUN.curriculum_points, 1)
  return before, state.level
end
