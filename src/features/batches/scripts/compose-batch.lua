-- Composes the batch of a step from the buffer, oldest groups first, or finds the one that was composed before.
-- KEYS  run (hash)  buffer (sorted set: group id by order of completion)  groupSummaries (hash: group id to its JSON)
--       backlog (hash)  retainedTexts (list)  batch (hash)  openBatches (sorted set: step by time)
--       acknowledgedSteps (sorted set: step by step)
-- ARGV  1 JSON: { epoch, step, now (ms), wanted: rollouts, least: fewest rollouts to compose with,
--                 count: 'rollouts' or 'scored_rollouts', policy_version, max_lag?, balance, unscored, open_max,
--                 keep, keep_bytes, remembered, group_prefix }
-- Gives { 'composed' or 'known', the batch as JSON }, { 'missing', rollouts that lack, rollouts queued, stale groups },
-- { 'acknowledged' }, { 'too_many' } or { 'epoch' }.
-- include ../../rollouts/scripts/parts/retire-group
local ask = cjson.decode(ARGV[1])
if tonumber(redis.call('HGET', K.run, 'epoch')) ~= ask.epoch then
  return { 'epoch' }
end
local known = redis.call('HGET', K.batch, 'batch')
if known then
  return { 'known', known }
end
-- Steps below the lowest that is remembered were acknowledged long ago.
local floor = tonumber(redis.call('HGET', K.backlog, 'acknowledged_below') or -1)
if ask.step < floor or redis.call('ZSCORE', K.acknowledgedSteps, ask.step) then
  return { 'acknowledged' }
end
if redis.call('ZCARD', K.openBatches) >= ask.open_max then
  return { 'too_many' }
end

local function missing(rollouts, stale)
  local queued = tonumber(redis.call('HGET', K.backlog, 'queued_rollouts') or 0)
  return { 'missing', ask.least - rollouts, queued, stale }
end
local stock = tonumber(redis.call('HGET', K.backlog, ask.count) or 0)
if stock < ask.least and not ask.max_lag then
  redis.call('HSET', K.run, 'last_asked_at', ask.now)
  return missing(stock, 0)
end

local chosen, texts, stale, rollouts, scored, counted = {}, {}, {}, 0, 0, 0
local at = 0
while counted < ask.wanted do
  local ids = redis.call('ZRANGE', K.buffer, at, at + 99)
  if #ids == 0 then
    break
  end
  at = at + #ids
  for k, text in ipairs(redis.call('HMGET', K.groupSummaries, unpack(ids))) do
    if counted >= ask.wanted then
      break
    end
    local facts = cjson.decode(text)
    if ask.max_lag and facts.version ~= cjson.null and ask.policy_version - facts.version > ask.max_lag then
      table.insert(stale, facts)
    else
      table.insert(chosen, ids[k])
      table.insert(texts, text)
      rollouts, scored = rollouts + facts.rollouts, scored + facts.scored
      counted = ask.count == 'rollouts' and rollouts or scored
    end
  end
end

local function leave_buffer(id)
  redis.call('ZREM', K.buffer, id)
  redis.call('HDEL', K.groupSummaries, id)
end
-- A group that is too old for this step is too old for any later one; left where it is, it could fill the buffer for ever.
for _, facts in ipairs(stale) do
  leave_buffer(facts.id)
  redis.call('HINCRBY', K.backlog, 'rollouts', -facts.rollouts)
  redis.call('HINCRBY', K.backlog, 'scored_rollouts', -facts.scored)
  redis.call('HSET', ask.group_prefix .. facts.id, 'destination', 'stale')
  settle({ run = K.run, stock = K.backlog, texts = K.retainedTexts }, ask, facts.id)
end
if #stale > 0 then
  redis.call('HINCRBY', K.run, 'stale_groups', #stale)
end
if counted < ask.least then
  redis.call('HSET', K.run, 'last_asked_at', ask.now, 'last_ask_stale', #stale)
  return missing(counted, #stale)
end

for _, id in ipairs(chosen) do
  leave_buffer(id)
end
redis.call('HINCRBY', K.backlog, 'rollouts', -rollouts)
redis.call('HINCRBY', K.backlog, 'scored_rollouts', -scored)
redis.call('HINCRBY', K.backlog, 'open_groups', #chosen)
local batch = string.format(
  '{"step":%d,"policy_version":%d,"balance":"%s","unscored":"%s","composed_at":%d,"groups":[%s]}',
  ask.step, ask.policy_version, ask.balance, ask.unscored, ask.now, table.concat(texts, ',')
)
redis.call('HSET', K.batch, 'batch', batch)
redis.call('ZADD', K.openBatches, ask.now, ask.step)
redis.call('HINCRBY', K.run, 'batches', 1)
redis.call('HSET', K.run, 'last_batch_at', ask.now, 'last_asked_at', ask.now, 'last_ask_stale', 0)
local last = tonumber(redis.call('HGET', K.run, 'step') or -1)
if ask.step > last then
  redis.call('HSET', K.run, 'step', ask.step)
end
return { 'composed', batch }
