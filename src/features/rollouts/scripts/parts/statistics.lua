-- Statistics of a run over time: the sums of each step, and how often each task was correct in its last groups.
-- keys  metric_steps (sorted set of steps), metric_sums_prefix (what the keys of one step's sums begin with),
--       recent_accuracies (hash: task to the shares of correct rollouts in its last groups)
-- A completed group belongs to the batch that is composed next; if no batch is ever composed, to its policy version.
local MAX_STEPS = 10000
local MAX_RECENT_ACCURACIES = 10

local function next_step(last, policy_version)
  return last and tonumber(last) + 1 or policy_version or 0
end

local function add_step_sums(keys, step, policy_version, sums)
  local name = string.format('%.0f', step) -- Lua itself writes 14 digits: some trainers count versions in microseconds
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

local function add_recent_accuracy(keys, task, percent_correct)
  local shares = {}
  for share in string.gmatch(redis.call('HGET', keys.recent_accuracies, task) or '', '[^,]+') do
    table.insert(shares, share)
  end
  table.insert(shares, string.format('%.6g', percent_correct))
  if #shares > MAX_RECENT_ACCURACIES then
    table.remove(shares, 1)
  end
  redis.call('HSET', keys.recent_accuracies, task, table.concat(shares, ','))
end
