-- Statistics of a run over time: the sums of each step, and figures of the last groups of each task.
-- keys  metric_steps (sorted set of steps), metric_sums_prefix (prefix of the keys of one step's sums)
--       metric_blocks (sorted set of blocks of groups), block_sums_prefix (prefix of the keys of one block's sums)
-- A completed group belongs to the batch that is composed next or, if no batch is ever composed, to its policy version.
local MAX_STEPS = 10000

local function next_step(last, policy_version)
  return last and tonumber(last) + 1 or policy_version or 0
end

local function add_step_sums(keys, step, policy_version, sums)
  -- Lua itself writes 14 digits, and some trainers count versions in microseconds
  local name = string.format('%.0f', step)
  local key = keys.metric_sums_prefix .. name
  for field, amount in pairs(sums) do
    redis.call('HINCRBYFLOAT', key, field, amount)
  end
  if policy_version then
    redis.call('HINCRBY', key, STEP.lag_count, 1)
    redis.call('HINCRBY', key, STEP.lag_sum, math.max(0, step - policy_version))
  end
  redis.call('ZADD', keys.metric_steps, name, name)
  if redis.call('ZCARD', keys.metric_steps) > MAX_STEPS then
    redis.call('DEL', keys.metric_sums_prefix .. redis.call('ZPOPMIN', keys.metric_steps)[1])
  end
end

-- A run without steps, such as one that collects, has its metrics over time: by blocks of at least BLOCK groups, named by the
-- number of their first group. Whenever a run has BLOCKS blocks of one size, the next ones are twice as large.
local BLOCK, BLOCKS = 8, 1024

local function add_block_sums(keys, number, now, sums)
  local size = BLOCK
  while number > size * BLOCKS do
    size = size * 2
  end
  local name = string.format('%.0f', math.floor((number - 1) / size) * size + 1)
  local key = keys.block_sums_prefix .. name
  for field, amount in pairs(sums) do
    redis.call('HINCRBYFLOAT', key, field, amount)
  end
  redis.call('HSET', key, STEP.last_completed_at, now)
  redis.call('ZADD', keys.metric_blocks, name, name)
end

-- Appends to the comma-separated list of a task and keeps its newest entries.
local function append_recent(key, task, entry, max)
  local entries = {}
  for known in string.gmatch(redis.call('HGET', key, task) or '', '[^,]+') do
    table.insert(entries, known)
  end
  table.insert(entries, entry)
  if #entries > max then
    table.remove(entries, 1)
  end
  redis.call('HSET', key, task, table.concat(entries, ','))
end
