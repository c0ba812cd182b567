-- Figures of a run over time: the sums of each step, and how often each task was right of late.
-- keys  metrics (sorted set of steps), metrics_prefix (what the keys of one step's sums begin with),
--       outcomes (hash: task to the shares of right rollouts in its last groups)
-- What is completed belongs to the batch that is composed next; where no batch is ever composed, to its policy version.
local STEPS_KEPT = 10000
local OUTCOMES_KEPT = 10

local function step_after(last, version)
  return last and tonumber(last) + 1 or version or 0
end

local function add_to_step(keys, step, version, sums)
  local name = string.format('%.0f', step) -- Lua itself writes 14 digits: some count their policies in microseconds
  local key = keys.metrics_prefix .. name
  for field, amount in pairs(sums) do
    redis.call('HINCRBYFLOAT', key, field, amount)
  end
  if version then
    redis.call('HINCRBY', key, 'lag:n', 1)
    redis.call('HINCRBY', key, 'lag:sum', math.max(0, step - version))
  end
  redis.call('ZADD', keys.metrics, name, name)
  if redis.call('ZCARD', keys.metrics) > STEPS_KEPT then
    redis.call('DEL', keys.metrics_prefix .. redis.call('ZPOPMIN', keys.metrics)[1])
  end
end

local function add_outcome(keys, task, share)
  local shares = {}
  for one in string.gmatch(redis.call('HGET', keys.outcomes, task) or '', '[^,]+') do
    table.insert(shares, one)
  end
  table.insert(shares, string.format('%.6g', share))
  if #shares > OUTCOMES_KEPT then
    table.remove(shares, 1)
  end
  redis.call('HSET', keys.outcomes, task, table.concat(shares, ','))
end
