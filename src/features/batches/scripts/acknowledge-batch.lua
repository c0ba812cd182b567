-- Acknowledges a batch: at once, or when every rank has done so. Then it retires the batch's groups and records the step.
-- KEYS  run (hash)  backlog (hash)  retainedTexts (list)  batch (hash: batch, and which ranks have acknowledged)
--       openBatches (sorted set: step by time)  acknowledgedSteps (sorted set: step by step)
--       allGroups (sorted set: group ID by when its key expires)
-- ARGV  1 JSON: { epoch, step, rank?, ranks?, max_acknowledged_steps: that are recorded individually,
--                 the limits of parts/retire-group }
-- Returns 'acknowledged' (now or before), 'waiting' (for other ranks), 'unknown' or 'epoch_changed'.
-- include ../../rollouts/scripts/parts/retire-group
local params = cjson.decode(ARGV[1])
if tonumber(redis.call('HGET', K.run, RUN.epoch)) ~= params.epoch then
  return 'epoch_changed'
end
local batch = redis.call('HGET', K.batch, BATCH.batch)
if not batch then
  local acknowledged_below = tonumber(redis.call('HGET', K.backlog, BACKLOG.acknowledged_below) or -1)
  local before = params.step < acknowledged_below or redis.call('ZSCORE', K.acknowledgedSteps, params.step)
  return before and 'acknowledged' or 'unknown'
end
-- Once a script has written without using memory, a full Redis lets it finish. This script is what frees memory.
redis.call('HDEL', K.batch, '')
if params.ranks then
  -- Counted separately for each number of ranks, because a trainer may return with fewer nodes than before.
  local count = BATCH.rank_counts .. params.ranks
  if redis.call('HSETNX', K.batch, BATCH.acknowledged_ranks .. params.rank .. '/' .. params.ranks, 1) == 1 then
    redis.call('HINCRBY', K.batch, count, 1)
  end
  if tonumber(redis.call('HGET', K.batch, count)) < params.ranks then
    return 'waiting'
  end
end

local groups = (read_object(batch) or {}).groups
if type(groups) ~= 'table' then -- the step is over, but which groups it had is unknown
  set_aside(K.batch, BATCH.batch)
  groups = {}
end
local keys = {
  run = K.run, backlog = K.backlog, retained_texts = K.retainedTexts, all_groups = K.allGroups,
}
for _, summary in ipairs(groups) do
  retire_group(keys, params, summary.id)
end
redis.call('HINCRBY', K.backlog, BACKLOG.open_batch_groups, 0 - #groups) -- an empty batch: 0, not -0
redis.call('DEL', K.batch)
redis.call('ZREM', K.openBatches, params.step)
if redis.call('ZCARD', K.openBatches) == 0 then
  redis.call('HSET', K.backlog, BACKLOG.open_batch_groups, 0) -- with those of a batch that could not be read
end
redis.call('ZADD', K.acknowledgedSteps, params.step, params.step)
if redis.call('ZCARD', K.acknowledgedSteps) > params.max_acknowledged_steps then
  local lowest = redis.call('ZPOPMIN', K.acknowledgedSteps)[1]
  local below = tonumber(redis.call('HGET', K.backlog, BACKLOG.acknowledged_below) or 0)
  redis.call('HSET', K.backlog, BACKLOG.acknowledged_below, math.max(below, tonumber(lowest) + 1)) -- a late step is lower
end
return 'acknowledged'
