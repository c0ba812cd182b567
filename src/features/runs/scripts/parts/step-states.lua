-- Records the state of a run after each of its last steps, so that the run can go back (rewinds/scripts/rewind-run.lua). A state
-- is recorded as what the next one changes in it: only the newest state is stored as a whole, as copies of its keys.
--   stepStates   sorted set: number of a state, in a fixed width, by its step
--   at-step:KEY  hash: a copy of each key of STATE.keys in the newest state; of a list, its entries by their places
--   step-state:N hash: `state`: msgpack of { time, open, requested, leases, drawn } in state N
--                `KEY FIELD`: value in state N of what state N + 1 has changed, or, of the sums of a step or a block, of what has
--                changed since; empty if there was none
--   handed-out:N list: positions whose items were issued since state N, and sN for steps whose items were requested
-- All are read and written by their prefix, because the keys of STATE.keys are declared once, in records.ts.
-- include ../../../../platform/redis/scripts/parts/unreadable

local MAX_ARGS = 4000 -- of one command, because Lua unpacks a limited number
local STATE_NUMBER = '%012.0f'
-- What names the steps of a run, in the order of precedence: a step that a trainer has ended is exact.
local STEP_SOURCES = { groups = 1, items = 2, ends = 3 }

local function state_prefix(step_states)
  return string.match(step_states, '^(.*:)[^:]*$')
end

local function state_key(step_states, number)
  return state_prefix(step_states) .. 'step-state:' .. tonumber(number)
end

local function handed_out_key(step_states, number)
  return state_prefix(step_states) .. 'handed-out:' .. tonumber(number)
end

local function set_of(names)
  local set = {}
  for name in string.gmatch(names, '[^,]+') do
    set[name] = true
  end
  return set
end

-- Calls a command with any number of arguments.
local function call_in_parts(command, key, args)
  for k = 1, #args, MAX_ARGS do
    redis.call(command, key, unpack(args, k, math.min(k + MAX_ARGS - 1, #args)))
  end
end

local function to_map(flat)
  local map = {}
  for k = 1, #flat, 2 do
    map[flat[k]] = flat[k + 1]
  end
  return map
end

-- Returns the fields of a hash or the entries of a list; of the run, those that are part of its state.
local function read_state_key(run_key, prefix, name)
  if name == 'run' then
    local fields = to_map(redis.call('HGETALL', run_key))
    for field in pairs(set_of(STATE.kept_fields)) do
      fields[field] = nil
    end
    return fields
  end
  if not set_of(STATE.lists)[name] then
    return to_map(redis.call('HGETALL', prefix .. name))
  end
  local entries = {}
  for place, entry in ipairs(redis.call('LRANGE', prefix .. name, 0, -1)) do
    entries[tostring(place)] = entry
  end
  return entries
end

-- Sets the fields of a hash to the values, or removes those whose value is empty.
local function set_fields(key, values)
  local changed, gone = {}, {}
  for field, value in pairs(values) do
    if value == '' then
      table.insert(gone, field)
    else
      table.insert(changed, field)
      table.insert(changed, value)
    end
  end
  call_in_parts('HSET', key, changed)
  call_in_parts('HDEL', key, gone)
end

-- Brings the copy of a key up to date, and adds to `undo` what it had before in the fields that have changed.
local function update_copy(prefix, name, after, undo)
  local before, changed = to_map(redis.call('HGETALL', prefix .. 'at-step:' .. name)), {}
  for field in pairs(before) do
    after[field] = after[field] or ''
  end
  for field, value in pairs(after) do
    if before[field] ~= value then
      changed[field] = value
      table.insert(undo, name .. ' ' .. field)
      table.insert(undo, before[field] or '')
    end
  end
  set_fields(prefix .. 'at-step:' .. name, changed)
end

-- Returns the tasks that were drawn for open or requested positions, with their shares, if sampling follows the model. Of very
-- many positions, it has none.
local function list_drawn(run_key, prefix)
  local settings = read_object(redis.call('HGET', run_key, RUN.settings)) or {}
  local drawn = {}
  if settings.sampling ~= 'learnability' then
    return drawn
  end
  for _, name in ipairs({ 'position-states', 'requested-positions' }) do
    local is_bounded = redis.call('HLEN', prefix .. name) <= STATE.max_entries
    for position, json in pairs(to_map(is_bounded and redis.call('HGETALL', prefix .. name) or {})) do
      local state = read_object(json) or {}
      drawn[position] = state.task and { task = state.task, share = state.share }
    end
  end
  return drawn
end

-- Returns what a state has besides its keys. Of very many leases or requested positions, it has none.
local function describe_sequence(run_key, prefix)
  local function bounded(key, count, command, ...)
    return redis.call(count, key) <= STATE.max_entries and redis.call(command, key, ...) or false
  end
  return {
    open = redis.call('ZRANGE', prefix .. 'open-positions', 0, -1),
    requested = bounded(prefix .. 'requested-positions', 'HLEN', 'HKEYS'),
    leases = bounded(prefix .. 'lease-expiries', 'ZCARD', 'ZRANGE', 0, -1, 'WITHSCORES'),
    drawn = list_drawn(run_key, prefix),
  }
end

local function forget_state(step_states, number)
  redis.call('ZREM', step_states, number)
  redis.call('UNLINK', state_key(step_states, number), handed_out_key(step_states, number))
end

-- Records the present state of the run as that after a step.
local function record_state(run_key, step_states, step, now)
  local prefix = state_prefix(step_states)
  local undo = {}
  local last = redis.call('HGET', run_key, RUN.state)
  local number = redis.call('HINCRBY', run_key, RUN.states, 1)
  for name in string.gmatch(STATE.keys, '[^,]+') do
    update_copy(prefix, name, read_state_key(run_key, prefix, name), undo)
  end
  if last then
    call_in_parts('HSET', state_key(step_states, last), undo)
  end
  local state = describe_sequence(run_key, prefix)
  state.time = now
  redis.call('HSET', state_key(step_states, number), 'state', cmsgpack.pack(state))
  redis.call('HSET', run_key, RUN.state, number)
  redis.call('ZADD', step_states, string.format('%.0f', step), string.format(STATE_NUMBER, number))
  for _ = 1, redis.call('ZCARD', step_states) - STATE.max_states do
    forget_state(step_states, redis.call('ZRANGE', step_states, 0, 0)[1])
  end
end

-- Returns the step of the newest state, or nil.
local function last_recorded_step(step_states)
  local newest = redis.call('ZRANGE', step_states, -1, -1, 'WITHSCORES')
  return newest[2] and tonumber(newest[2])
end

-- Forgets all states: those of a sequence that has restarted, or whose steps something else has named.
local function forget_states(run_key, step_states)
  for _, number in ipairs(redis.call('ZRANGE', step_states, 0, -1)) do
    forget_state(step_states, number)
  end
  redis.call('HDEL', run_key, RUN.state)
end

-- A step has ended: its batch was composed, or its trainer says so. A repeated call, of another rank, records nothing.
local function end_step(run_key, step_states, step, now)
  if redis.call('HGET', run_key, RUN.steps_named_by) ~= 'ends' then
    forget_states(run_key, step_states)
    redis.call('HSET', run_key, RUN.steps_named_by, 'ends')
  end
  local last = last_recorded_step(step_states)
  if last and step <= last then
    return
  end
  redis.call('HSET', run_key, RUN.named_step, string.format('%.0f', step))
  record_state(run_key, step_states, step, now)
end

-- Items or groups of a step have come. If it is a later step than that of all others, the step before has ended.
local function begin_step(run_key, step_states, step, source, now)
  local run = redis.call('HMGET', run_key, RUN.steps_named_by, RUN.named_step)
  local known, named = STEP_SOURCES[run[1]] or 0, tonumber(run[2] or -1) -- an edited checkpoint may lack it
  if STEP_SOURCES[source] < known then
    return
  end
  if STEP_SOURCES[source] > known then
    forget_states(run_key, step_states)
  elseif step > named then
    record_state(run_key, step_states, named, now)
  else
    return
  end
  redis.call('HSET', run_key, RUN.steps_named_by, source, RUN.named_step, string.format('%.0f', step))
end

-- Logs what was handed out since the newest state: positions, or a step.
local function log_handed_out(run_key, step_states, entries)
  local last = redis.call('HGET', run_key, RUN.state)
  if last and entries[1] then
    call_in_parts('RPUSH', handed_out_key(step_states, last), entries)
  end
end

-- Returns the numbers of the states from the latest one at a step or before it, or nil if no such state is kept.
local function list_states_since(step_states, step)
  local found = redis.call('ZREVRANGEBYSCORE', step_states, string.format('%.0f', step), '-inf', 'LIMIT', 0, 1)[1]
  return found and redis.call('ZRANGE', step_states, redis.call('ZRANK', step_states, found), -1)
end

-- Returns { KEY = { field = value in the first of the states, or '' } } for what differs from the newest one or, of sums, from now.
local function merge_undo(step_states, numbers)
  local merged = setmetatable({}, { __index = function(all, name)
    all[name] = {}
    return all[name]
  end })
  for _, number in ipairs(numbers) do
    for entry, value in pairs(to_map(redis.call('HGETALL', state_key(step_states, number)))) do
      local name, field = string.match(entry, '^(%S+) (.*)$')
      if name then
        merged[name][field] = merged[name][field] or value
      end
    end
  end
  return merged
end
