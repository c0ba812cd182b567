-- Acknowledges a batch: at once, or when each rank has said so. Its groups are done then, and the step is remembered.
-- KEYS  1 run (hash)  2 stock (hash)  3 texts (list)  4 the batch (hash: batch, and which ranks have acknowledged)
--       5 open (sorted set: step by time)  6 acknowledged (sorted set: step by step)
-- ARGV  1 JSON: { epoch, step, rank?, ranks?, steps_max: steps that are remembered one by one,
--                 keep, keep_bytes, remembered, group_prefix }
-- Gives 'acknowledged' (now or before), 'waiting' (other ranks have not said so), 'unknown' or 'epoch'.
-- include ../../rollouts/scripts/parts/retire-group
local ask = cjson.decode(ARGV[1])
if tonumber(redis.call('HGET', KEYS[1], 'epoch')) ~= ask.epoch then
  return 'epoch'
end
local batch = redis.call('HGET', KEYS[4], 'batch')
if not batch then
  local floor = tonumber(redis.call('HGET', KEYS[2], 'acknowledged_below') or -1)
  local before = ask.step < floor or redis.call('ZSCORE', KEYS[6], ask.step)
  return before and 'acknowledged' or 'unknown'
end
-- A Redis that is full lets a script go on once it has written something that takes no memory; this is how it gets empty.
redis.call('HDEL', KEYS[4], '')
if ask.ranks then
  -- Counted for each number of ranks by itself: a trainer may come back with fewer nodes than it had.
  local count = 'ranks:' .. ask.ranks
  if redis.call('HSETNX', KEYS[4], 'rank:' .. ask.rank .. '/' .. ask.ranks, 1) == 1 then
    redis.call('HINCRBY', KEYS[4], count, 1)
  end
  if tonumber(redis.call('HGET', KEYS[4], count)) < ask.ranks then
    return 'waiting'
  end
end

local groups = cjson.decode(batch).groups
for _, facts in ipairs(groups) do
  settle({ run = KEYS[1], stock = KEYS[2], texts = KEYS[3] }, ask, facts.id)
end
redis.call('HINCRBY', KEYS[2], 'open_groups', -#groups)
redis.call('DEL', KEYS[4])
redis.call('ZREM', KEYS[5], ask.step)
redis.call('ZADD', KEYS[6], ask.step, ask.step)
if redis.call('ZCARD', KEYS[6]) > ask.steps_max then
  local lowest = redis.call('ZPOPMIN', KEYS[6])[1]
  redis.call('HSET', KEYS[2], 'acknowledged_below', tonumber(lowest) + 1)
end
return 'acknowledged'
