-- Composes the batch of a step from the buffer, oldest groups first, or returns the one that was composed before.
-- KEYS  run (hash)  buffer (sorted set: group ID by order of completion)  groupSummaries (hash: group ID to its JSON)
--       backlog (hash)  retainedTexts (list)  batch (hash)  openBatches (sorted set: step by time)
--       acknowledgedSteps (sorted set: step by step)  allGroups (sorted set: group ID by when its key expires)
--       leaseExpiries, pendingGroups (sorted sets)  flowSamples (list of JSON, newest first)
--       lagSums (hash of sums over groups, `TASK:FIELD`)  stepStates (sorted set: number of a state by step)
-- ARGV  1 JSON: { epoch, rewinds: of the run, as the call found it, step, now (ms), target_rollouts,
--                 min_rollouts: to compose with, 0: also an empty batch, await_queued: whether queued groups may still arrive,
--                 only_scored: whether only scored rollouts count, policy_version, max_lag?, balance, unscored,
--                 max_open_batches, format: version of the stored batch, max_flow_samples,
--                 flow_fields: counters of the run that a sample has, the limits of parts/retire-group }
-- Returns { 'composed' or 'existing', the batch as JSON }, { 'insufficient', missing rollouts, queued rollouts },
-- { 'acknowledged' }, { 'too_many_open' } or { 'run_changed' }.
-- include ../../rollouts/scripts/parts/retire-group
-- include ../../runs/scripts/parts/step-states
local params = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.rewinds)
if tonumber(run[1]) ~= params.epoch or tonumber(run[2] or 0) ~= params.rewinds then
  return { 'run_changed' }
end
local existing = redis.call('HGET', K.batch, BATCH.batch)
local is_whole = existing and string.find(existing, '^{"format":%d') and string.sub(existing, -2) == ']}'
if existing and is_whole then
  return { 'existing', existing }
end
-- Steps below the lowest recorded one were acknowledged long ago.
local acknowledged_below = tonumber(redis.call('HGET', K.backlog, BACKLOG.acknowledged_below) or -1)
if params.step < acknowledged_below or redis.call('ZSCORE', K.acknowledgedSteps, params.step) then
  return { 'acknowledged' }
end
if existing then
  set_aside(K.batch, BATCH.batch) -- the step gets another batch
  redis.call('DEL', K.batch)
  redis.call('ZREM', K.openBatches, params.step)
end
if redis.call('ZCARD', K.openBatches) >= params.max_open_batches then
  return { 'too_many_open' }
end

-- Once a script has written without using memory, a full Redis lets it finish. An empty batch frees no memory.
redis.call('HDEL', K.batch, '')

-- The first request for a step says that its trainer has finished the step before: its policy has a new version.
local flow = redis.call('HMGET', K.run, RUN.requested_step, RUN.trainer_waiting_since)
local waiting_since = tonumber(flow[2] or 0)
if tonumber(flow[1] or -1) ~= params.step then
  waiting_since = params.now
  redis.call('HSET', K.run, RUN.requested_step, params.step, RUN.trainer_waiting_since, params.now)
  redis.call('HINCRBY', K.run, RUN.requested_steps, 1)
  redis.call('HINCRBY', K.run, RUN.leased_at_requests, redis.call('ZCARD', K.leaseExpiries))
  redis.call('HINCRBY', K.run, RUN.queued_at_requests, redis.call('ZCARD', K.pendingGroups))
  redis.call('HINCRBY', K.run, RUN.buffered_at_requests, redis.call('ZCARD', K.buffer))
end

local queued = tonumber(redis.call('HGET', K.backlog, BACKLOG.queued_rollouts) or 0)
local function insufficient_reply(rollouts)
  return { 'insufficient', math.max(0, params.min_rollouts - rollouts), queued }
end
local counted_field = params.only_scored and BACKLOG.buffered_scored_rollouts or BACKLOG.buffered_rollouts
local available = tonumber(redis.call('HGET', K.backlog, counted_field) or 0)
if available < params.min_rollouts and not params.max_lag then
  redis.call('HSET', K.run, RUN.last_batch_request_at, params.now)
  return insufficient_reply(available)
end

-- Returns nil for a summary that lacks what this script counts by.
local function read_summary(json)
  local summary = read_object(json)
  local version = summary and summary.policy_version
  local is_readable = summary and type(summary.id) == 'string' and type(summary.rollouts) == 'table'
    and type(summary.scored) == 'number' and (version == nil or version == cjson.null or type(version) == 'number')
  return is_readable and summary or nil
end

-- Adds a group with a policy version to the sums of those that were kept or dropped for their lag.
local function add_lag_sums(sums, fate, summary)
  local function add(field, amount)
    local name = summary.task .. ':' .. fate .. '_' .. field
    sums[name] = (sums[name] or 0) + amount
  end
  add('groups', 1)
  add('lag', params.policy_version - summary.policy_version)
  if type(summary.difficulty) == 'number' then
    add('difficulty', summary.difficulty)
    add('difficulties', 1)
  end
  for _, rollout in ipairs(summary.rollouts) do
    if type(rollout[3]) == 'number' then
      add('tokens', rollout[3])
      add('lengths', 1)
    end
  end
end
local function write_lag_sums(sums)
  for name, amount in pairs(sums) do
    redis.call('HINCRBYFLOAT', K.lagSums, name, string.format('%.17g', amount))
  end
end

local chosen, chosen_json, stale, unreadable, rollouts, scored, counted = {}, {}, {}, {}, 0, 0, 0
local lag_sum, lagged, kept_sums, dropped_sums = 0, 0, {}, {}
local offset = 0
while counted < params.target_rollouts do
  local ids = redis.call('ZRANGE', K.buffer, offset, offset + 99)
  if #ids == 0 then
    break
  end
  offset = offset + #ids
  for k, json in ipairs(redis.call('HMGET', K.groupSummaries, unpack(ids))) do
    if counted >= params.target_rollouts then
      break
    end
    local summary = read_summary(json)
    local version = summary and summary.policy_version
    if not summary then
      table.insert(unreadable, ids[k])
      set_aside(K.groupSummaries, ids[k])
    elseif params.max_lag and type(version) == 'number' and params.policy_version - version > params.max_lag then
      table.insert(stale, summary)
      add_lag_sums(dropped_sums, 'dropped', summary)
    else
      table.insert(chosen, ids[k])
      table.insert(chosen_json, json)
      rollouts, scored = rollouts + #summary.rollouts, scored + summary.scored
      counted = params.only_scored and scored or rollouts
      if type(version) == 'number' then
        lag_sum, lagged = lag_sum + params.policy_version - version, lagged + 1
        if params.max_lag then
          add_lag_sums(kept_sums, 'kept', summary)
        end
      end
    end
  end
end

local function remove_from_buffer(id)
  redis.call('ZREM', K.buffer, id)
  redis.call('HDEL', K.groupSummaries, id)
end
local retire_keys = {
  run = K.run, backlog = K.backlog, retained_texts = K.retainedTexts, all_groups = K.allGroups,
}
-- Counts the tokens of the rollouts that a batch would have trained on.
local function count_trained_tokens(summaries)
  local tokens = 0
  for _, summary in ipairs(summaries) do
    for _, rollout in ipairs(summary.rollouts) do
      local reward, length, marks = rollout[1], rollout[3], rollout[5]
      if type(reward) == 'number' and type(length) == 'number' and marks[1] ~= 's' and marks[1] ~= 'm' then
        tokens = tokens + length
      end
    end
  end
  return tokens
end

-- A group that is too old for this step is too old for every later one. Such groups could fill the buffer.
for _, summary in ipairs(stale) do
  remove_from_buffer(summary.id)
  redis.call('HINCRBY', K.backlog, BACKLOG.buffered_rollouts, -#summary.rollouts)
  redis.call('HINCRBY', K.backlog, BACKLOG.buffered_scored_rollouts, 0 - summary.scored)
  redis.call('HSET', params.group_key_prefix .. summary.id, GROUP.destination, 'stale')
  retire_group(retire_keys, params, summary.id)
end
if #stale > 0 then
  write_lag_sums(dropped_sums)
  redis.call('HINCRBY', K.run, RUN.stale_groups, #stale)
  redis.call('HINCRBYFLOAT', K.run, RUN.untrained_tokens, count_trained_tokens(stale))
end
for _, id in ipairs(unreadable) do
  remove_from_buffer(id)
  redis.call('HSET', params.group_key_prefix .. id, GROUP.destination, 'not_buffered')
  retire_group(retire_keys, params, id)
end
if #unreadable > 0 then -- how many rollouts they had is unknown
  local buffered, buffered_scored = 0, 0
  for _, json in ipairs(redis.call('HVALS', K.groupSummaries)) do
    local summary = read_summary(json)
    if summary then
      buffered, buffered_scored = buffered + #summary.rollouts, buffered_scored + summary.scored
    end
  end
  redis.call('HSET', K.backlog, BACKLOG.buffered_rollouts, buffered, BACKLOG.buffered_scored_rollouts, buffered_scored)
end
local awaited = params.await_queued and queued > 0 and counted < params.target_rollouts
if counted < params.min_rollouts or awaited then
  redis.call('HSET', K.run, RUN.last_batch_request_at, params.now, RUN.last_request_stale_groups, #stale)
  return insufficient_reply(counted)
end

for _, id in ipairs(chosen) do
  remove_from_buffer(id)
end
-- `0 - n`, because `-n` of an empty batch would be written as -0, which is not an integer.
redis.call('HINCRBY', K.backlog, BACKLOG.buffered_rollouts, 0 - rollouts)
redis.call('HINCRBY', K.backlog, BACKLOG.buffered_scored_rollouts, 0 - scored)
redis.call('HINCRBY', K.backlog, BACKLOG.open_batch_groups, #chosen)
local batch = string.format(
  '{"format":%d,"step":%d,"policy_version":%d,"balance":"%s","unscored":"%s","composed_at":%d,"groups":[%s]}',
  params.format, params.step, params.policy_version, params.balance, params.unscored, params.now,
  table.concat(chosen_json, ',')
)
redis.call('HSET', K.batch, BATCH.batch, batch)
redis.call('ZADD', K.openBatches, params.now, params.step)
redis.call('HINCRBY', K.run, RUN.batches, 1)
redis.call('HSET', K.run, RUN.last_batch_at, params.now, RUN.last_batch_request_at, params.now,
  RUN.last_request_stale_groups, #chosen == 0 and #stale or 0)
local last = tonumber(redis.call('HGET', K.run, RUN.step) or -1)
if params.step > last then
  redis.call('HSET', K.run, RUN.step, params.step)
  end_step(K.run, K.stepStates, params.step, params.now)
end
write_lag_sums(kept_sums)
redis.call('HINCRBY', K.run, RUN.batched_groups, #chosen)
redis.call('HINCRBY', K.run, RUN.lagged_groups, lagged)
-- Some trainers count versions in microseconds. From 10^17 on, Lua writes such sums with exponents, which HINCRBY rejects.
redis.call('HINCRBYFLOAT', K.run, RUN.lag_sum, lag_sum)
redis.call('HSET', K.run, RUN.trainer_waiting_since, 0)
redis.call('HINCRBY', K.run, RUN.trainer_waited_ms, math.max(0, params.now - waiting_since))
local sample = { at = params.now }
for k, value in ipairs(redis.call('HMGET', K.run, unpack(params.flow_fields))) do
  sample[params.flow_fields[k]] = tonumber(value or 0)
end
redis.call('LPUSH', K.flowSamples, cjson.encode(sample))
redis.call('LTRIM', K.flowSamples, 0, params.max_flow_samples - 1)
return { 'composed', batch }
