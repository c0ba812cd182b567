-- Makes a run what it was after a step, in one step of its own: restores the keys of its state, hands out again what was
-- handed out later, and voids later groups. The states after the step are forgotten.
-- KEYS  see ../../runs/sequence/scripts/parts/sequence.lua, parts/void-groups.lua and parts/undo-sequence.lua; also
--       curriculumHistory (list)  metricSteps, metricBlocks (sorted sets)  mixes (list of JSON, oldest first)  flowSamples (list)
-- ARGV  1 JSON: { epoch, revision: that `settings` come from, settings?: with the mix of the step, as JSON, '' if that is not kept,
--                 step, resume_id?, now (ms), batch_key_prefix, the limits of parts/retire-group,
--                 dropped: [{ index: sorted set of what later features gather, prefix?: of a key of each member }],
--                 zeroed: [{ key, field }] }
-- Returns { 'rewound', groups voided, queued, buffered, in open batches, open groups }; or
-- { 'repeated' }: the run is as another call of the same resume left it; { 'run_changed' }: it is in another epoch or has other settings;
-- { 'other_mix', number }: the step had that mix, so the call needs `settings`;
-- { 'no_steps' }; { 'not_reached', latest step }; { 'not_kept', oldest step that is kept }.
-- include ../../runs/sequence/scripts/parts/sequence
-- include ../../rollouts/scripts/parts/retire-group
-- include parts/undo-sequence
-- include parts/void-groups
local params = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.steps_named_by, RUN.named_step, RUN.rewound_to, RUN.resume_id,
  RUN.curriculum_points, RUN.rewinds, RUN.revision, RUN.mixes)
if tonumber(run[1]) ~= params.epoch or tonumber(run[8]) ~= params.revision then
  return { 'run_changed' }
end
if not run[2] then
  return { 'no_steps' }
end
local latest = tonumber(run[3] or -1)
if params.step > latest then
  return { 'not_reached', string.format('%.0f', latest) }
end
local resume = params.resume_id and string.format('%.0f ', params.step) .. params.resume_id
local is_at_step = run[2] ~= 'ends' and params.step == latest -- nothing of a later step has come
if is_at_step or (resume and resume == run[5]) then
  return { 'repeated' }
end
local numbers = list_states_since(K.stepStates, params.step)
if not numbers then
  local oldest = redis.call('ZRANGE', K.stepStates, 0, 0, 'WITHSCORES')[2]
  return { 'not_kept', oldest or string.format('%.0f', latest) }
end
local target = tonumber(numbers[1])
if not resume and #numbers == 1 and tonumber(run[4]) == target then
  return { 'repeated' }
end

local prefix = state_prefix(K.stepStates)
local undo = merge_undo(K.stepStates, numbers)
local state = cmsgpack.unpack(redis.call('HGET', state_key(K.stepStates, target), 'state'))

-- Returns a field of the run as it was.
local function field_then(field)
  return tonumber(undo.run[field] or redis.call('HGET', prefix .. 'at-step:run', field) or nil) or 0
end

local mix = field_then(RUN.mixes)
if tonumber(run[9] or 0) > mix and not params.settings then
  return { 'other_mix', string.format('%.0f', mix) }
end

local function restore_run(copy)
  local values = read_state_key(K.run, prefix, 'run')
  for field in pairs(values) do
    values[field] = ''
  end
  for field, value in pairs(to_map(redis.call('HGETALL', copy))) do
    values[field] = value
  end
  set_fields(K.run, values)
end

local function restore_key(name)
  local copy, key = prefix .. 'at-step:' .. name, prefix .. name
  set_fields(copy, undo[name])
  if name == 'run' then
    return restore_run(copy)
  end
  redis.call('UNLINK', key)
  if set_of(STATE.lists)[name] then
    local entries = to_map(redis.call('HGETALL', copy))
    for place = 1, redis.call('HLEN', copy) do
      redis.call('RPUSH', key, entries[tostring(place)])
    end
  else
    redis.call('COPY', copy, key)
  end
end

-- Restores the sums of the steps or blocks that have changed since.
local function restore_rows(name, index)
  set_fields(prefix .. name, undo[name])
  for row, sums in pairs(undo[name]) do
    if sums == '' then
      redis.call('ZREM', index, row)
    end
  end
end

local function drop_gathered()
  local count = redis.call('ZCARD', K.openGroups)
  for _, one in ipairs(params.dropped) do
    for _, member in ipairs(one.prefix and redis.call('ZRANGE', one.index, 0, -1) or {}) do
      redis.call('UNLINK', one.prefix .. member)
    end
    redis.call('UNLINK', one.index)
  end
  for _, one in ipairs(params.zeroed) do
    redis.call('HSET', one.key, one.field, 0)
  end
  return count
end

-- The mix of tasks is that of the step. Later mixes are forgotten.
local function restore_mix()
  local before = redis.call('LLEN', K.mixes)
  for _ = 1, before do
    local last = read_object(redis.call('LINDEX', K.mixes, -1)) or {}
    if (tonumber(last.number) or 0) <= mix then
      break
    end
    redis.call('RPOP', K.mixes)
  end
  if params.settings and params.settings ~= '' then
    redis.call('HSET', K.run, RUN.settings, params.settings)
  end
end

-- Groups that waited for a worker then are void, too.
local function recount_groups()
  local counts = redis.call('HMGET', K.run, RUN.scored_groups, RUN.failed_groups, RUN.groups)
  if counts[3] then
    redis.call('HSET', K.run, RUN.groups, tonumber(counts[1] or 0) + tonumber(counts[2] or 0))
  end
end

-- Times of what waits, and samples of counters, belong to the sequence of events that is undone.
local function restart_flow()
  redis.call('UNLINK', K.flowSamples)
  redis.call('HDEL', K.run, RUN.items_held_since, RUN.posts_held_since, RUN.trainer_waiting_since)
end

-- Every step up to this one counts as acknowledged: its trainer has the weights.
local function end_batches()
  local steps = redis.call('ZRANGE', K.openBatches, 0, -1)
  for _, step in ipairs(steps) do
    redis.call('UNLINK', params.batch_key_prefix .. step)
  end
  redis.call('UNLINK', K.openBatches)
  if redis.call('HEXISTS', K.run, RUN.step) == 1 then
    redis.call('ZREMRANGEBYSCORE', K.acknowledgedSteps, '(' .. string.format('%.0f', params.step), '+inf')
    redis.call('HSET', K.backlog, BACKLOG.acknowledged_below, string.format('%.0f', params.step + 1))
  end
  return #steps
end

redis.call('HDEL', K.run, '') -- once a script has written without using memory, a full Redis lets it finish
local rewinds = tonumber(run[7] or 0) + 1
local open_batches, open_groups = end_batches(), drop_gathered()
local voided = void_groups(params, field_then(RUN.completed), state.time, rewinds)
undo_sequence(numbers, state, params.now)
restore_rows('step-sums', K.metricSteps)
restore_rows('block-sums', K.metricBlocks)
restore_mix()
redis.call('LTRIM', K.curriculumHistory, tonumber(run[6] or 0) - field_then(RUN.curriculum_points), -1)
for name in string.gmatch(STATE.keys, '[^,]+') do
  restore_key(name)
end
recount_groups()
restart_flow()
for k = 2, #numbers do
  forget_state(K.stepStates, numbers[k])
end
redis.call('UNLINK', handed_out_key(K.stepStates, target))
redis.call('DEL', state_key(K.stepStates, target))
redis.call('HSET', state_key(K.stepStates, target), 'state', cmsgpack.pack(state))
redis.call('HINCRBY', K.run, RUN.revision, 1) -- rejects what other calls are about to store
redis.call('HSET', K.run, RUN.state, target, RUN.rewound_to, target, RUN.rewinds, rewinds, RUN.rewound_at, params.now)
redis.call('HSET', K.run, RUN.resume_id, resume or '')
return { 'rewound', voided.groups, voided.queued, voided.buffered, open_batches, open_groups }
