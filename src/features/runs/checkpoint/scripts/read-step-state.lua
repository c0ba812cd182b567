-- Reads the recorded state of a run after a step, or after the latest step before it.
-- KEYS  see ../../sequence/scripts/parts/sequence.lua; also curriculumHistory (list)
--       metricSteps, metricBlocks (sorted sets of the rows of sums)
-- ARGV  1 step
-- Returns nil if none is kept, else { its step, JSON: what the transaction of ../repository.ts would have read,
-- JSON: { KEY: { ROW: its sums by field } } for the sums of steps and blocks that have changed since, positions that were handed out since }.
-- include ../../sequence/scripts/parts/sequence
local numbers = list_states_since(K.stepStates, tonumber(ARGV[1]))
if not numbers then
  return nil
end
local prefix, undo = state_prefix(K.stepStates), merge_undo(K.stepStates, numbers)
local state = cmsgpack.unpack(redis.call('HGET', state_key(K.stepStates, numbers[1]), 'state'))

local function read_then(name)
  local fields = to_map(redis.call('HGETALL', prefix .. 'at-step:' .. name))
  for field, value in pairs(undo[name]) do
    fields[field] = value ~= '' and value or nil
  end
  return fields
end

-- As text with 17 digits, which keep every bit.
local function unpack_all(rows)
  local all = {}
  for row, packed in pairs(rows) do
    all[row] = {}
    for field, sum in pairs(packed ~= '' and cmsgpack.unpack(packed) or {}) do
      all[row][field] = string.format('%.17g', sum)
    end
  end
  return all
end

local function list_then(name)
  local list, entries = {}, read_then(name)
  for place = 1, math.huge do
    if not entries[tostring(place)] then
      return list
    end
    list[place] = entries[tostring(place)]
  end
end

local function states_of(positions)
  local states = {}
  for _, position in ipairs(positions) do
    local drawn = state.drawn[position] or {}
    states[position] = cjson.encode({
      opened = 0, claimed_until = 0, attempts = 0, task = drawn.task, share = drawn.share,
    })
  end
  return states
end

local handed_out = {}
for _, number in ipairs(numbers) do
  for _, entry in ipairs(redis.call('LRANGE', handed_out_key(K.stepStates, number), 0, -1)) do
    if string.sub(entry, 1, 1) ~= 's' then
      table.insert(handed_out, entry)
    end
  end
end

local function list_rows(index, name)
  local list = {}
  for _, row in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    if undo[name][row] ~= '' then
      table.insert(list, row)
    end
  end
  return list
end

local expiries, leased = {}, {}
for k = 1, #(state.leases or {}), 2 do
  local position, item = state.leases[k], get_issued(state.leases[k])
  if item and not item.failed then
    table.insert(expiries, position)
    table.insert(expiries, state.leases[k + 1])
    local difficulty, retry = item.difficulty ~= '' and item.difficulty or nil, item.retry > 0 and item.retry or nil
    leased[position] = cjson.encode({
      task = item.task, difficulty = difficulty, retry = retry, propensity = item.propensity,
    })
  end
end

local run = read_then('run')
local now = redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.curriculum_points)
local new_points = tonumber(now[3] or 0) - (tonumber(run[RUN.curriculum_points]) or 0)
run[RUN.epoch], run[RUN.revision] = now[1], now[2]
local read = {
  run, read_then('curriculum'), read_then('frontier-weights'), list_then('frontier-evidence'),
  read_then('recent-accuracies'), read_then('learnability'), unpack_all(read_then('task-sums')),
  math.max(0, redis.call('LLEN', K.curriculumHistory) - new_points), state.open, states_of(state.open),
  list_rows(K.metricSteps, 'step-sums'), list_rows(K.metricBlocks, 'block-sums'), states_of(state.requested or {}),
  expiries, leased,
}
local rows = { ['step-sums'] = unpack_all(undo['step-sums']), ['block-sums'] = unpack_all(undo['block-sums']) }
return { redis.call('ZSCORE', K.stepStates, numbers[1]), cjson.encode(read), cjson.encode(rows), handed_out }
