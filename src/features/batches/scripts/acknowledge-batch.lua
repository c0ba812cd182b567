-- Acknowledges a batch: at once, or when each rank has said so. Its groups are done then, and the step is remembered.
-- KEYS  run (hash)  backlog (hash)  retainedTexts (list)  batch (hash: batch, and which ranks have acknowledged)
--       openBatches (sorted set: step by time)  acknowledgedSteps (sorted set: step by step)
-- ARGV  1 JSON: { epoch, step, rank?, ranks?, steps_max: steps that are remembered one by one,
--                 keep, keep_bytes, remembered, group_prefix }
-- Gives 'acknowledged' (now or before), 'waiting' (other ranks have not said so), 'unknown' or 'epoch'.
-- include ../../rollouts/scripts/parts/retire-group
local ask = cjson.decode(ARGV[1])
if tonumber(redis.call('HGET', K.run, 'epoch')) ~= ask.epoch then
  return 'epoch'
end
local batch = redis.call('HGET', K.batch, 'batch')
if not batch then
  local floor = tonumber(redis.call('HGET', K.backlog, 'acknowledged_below') or -1)
  local before = ask.step < floor or redis.call('ZSCORE', K.acknowledgedSteps, ask.step)
  return before and 'acknowledged' or 'unknown'
end
-- A Redis that is full lets a script go on once it has written something that takes no memory; this is how it gets empty.
redis.call('HDEL', K.batch, '')
if ask.ranks then
  -- Counted for each number of ranks by itself: a trainer may come back with fewer nodes than it had.
  local count = 'ranks:' .. ask.ranks
  if redis.call('HSETNX', K.batch, 'rank:' .. ask.rank .. '/' .. ask.ranks, 1) == 1 then
    redis.call('HINCRBY', K.batch, count, 1)
  end
  if tonumber(redis.call('HGET', K.batch, count)) < ask.ranks then
    return 'waiting'
  end
end

local groups = cjson.decode(batch).groups
for _, facts in ipairs(groups) do
  settle({ run = K.run, stock = K.backlog, texts = K.retainedTexts }, ask, facts.id)
end
redis.call('HINCRBY', K.backlog, 'open_groups', -#groups)
redis.call('DEL', K.batch)
redis.call('ZREM', K.openBatches, ask.step)
redis.call('ZADD', K.acknowledgedSteps, ask.step, ask.step)
if redis.call('ZCARD', K.acknowledgedSteps) > ask.steps_max then
  local lowest = redis.call('ZPOPMIN', K.acknowledgedSteps)[1]
  redis.call('HSET', K.backlog, 'acknowledged_below', tonumber(lowest) + 1)
end
return 'acknowledged'
