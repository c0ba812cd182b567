-- Statistics of a run over time: the sums of each step, and figures of the last groups of each task.
-- keys  metric_steps (sorted set of steps), metric_sums_prefix (prefix of the keys of one step's sums)
--       metric_blocks (sorted set of blocks of groups), block_sums_prefix (prefix of the keys of one block's sums)
-- sums  step or block, as text, to the changes of its sums (hash-changes)
-- A completed group belongs to the batch that is composed next or, if no batch is ever composed, to its policy version.
--       step_state (hash of the newest recorded state of the run, runs/scripts/parts/step-states.lua; nil if there is none)
-- include hash-changes
local MAX_STEPS = 10000

local function next_step(last, policy_version)
  return last and tonumber(last) + 1 or policy_version or 0
end

local function add_step_sums(sums, keys, step, now, policy_version, amounts)
  -- Lua itself writes 14 digits, and some trainers count versions in microseconds
  local name = string.format('%.0f', step)
  sums[name] = sums[name] or open_changes(keys.metric_sums_prefix .. name)
  add_amounts(sums[name], amounts)
  set_value(sums[name], STEP.last_completed_at, now)
  if policy_version then
    add_amount(sums[name], STEP.lag_count, 1)
    add_amount(sums[name], STEP.lag_sum, math.max(0, step - policy_version))
  end
end

-- A run without steps, such as one that collects, has its metrics over time: by blocks of at least BLOCK groups, named by the
-- number of their first group. Whenever a run has BLOCKS blocks of one size, the next ones are twice as large.
local BLOCK, BLOCKS = 8, 1024

local function add_block_sums(sums, keys, number, now, amounts)
  local size = BLOCK
  while number > size * BLOCKS do
    size = size * 2
  end
  local name = string.format('%.0f', math.floor((number - 1) / size) * size + 1)
  sums[name] = sums[name] or open_changes(keys.block_sums_prefix .. name)
  add_amounts(sums[name], amounts)
  set_value(sums[name], STEP.last_completed_at, now)
end

-- Keeps the sums of a row as they were in the newest recorded state.
local function keep_row(step_state, key)
  local row = string.match(key, '[^:]+:[^:]+$')
  if redis.call('HEXISTS', step_state, row) == 0 then
    redis.call('HSET', step_state, row, cmsgpack.pack(redis.call('HGETALL', key)))
  end
end

local function write_sums(sums, index, step_state)
  for name, changes in pairs(sums) do
    if step_state then
      keep_row(step_state, changes.key)
    end
    write_changes(changes)
    redis.call('ZADD', index, name, name)
  end
end

local function write_step_sums(sums, keys)
  write_sums(sums, keys.metric_steps, keys.step_state)
  local excess = redis.call('ZCARD', keys.metric_steps) - MAX_STEPS
  for _ = 1, excess do
    redis.call('DEL', keys.metric_sums_prefix .. redis.call('ZPOPMIN', keys.metric_steps)[1])
  end
end

-- Appends to the comma-separated list of a task and keeps its newest entries.
local function append_recent(key, task, entries, max)
  local all = {}
  for known in string.gmatch(redis.call('HGET', key, task) or '', '[^,]+') do
    table.insert(all, known)
  end
  for _, entry in ipairs(entries) do
    table.insert(all, entry)
  end
  redis.call('HSET', key, task, table.concat(all, ',', math.max(1, #all - max + 1)))
end
