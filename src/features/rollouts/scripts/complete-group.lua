-- Completes a group: verdicts, buffer, counters, curriculum and notice in one step, once; a second delivery finds it done.
-- KEYS  run (hash)  group (hash)  pendingGroups (sorted set)  buffer (sorted set: group id by order of completion)
--       recentGroups (sorted set: group id by order of completion)  taskSums (hash of sums per task)
--       curriculum (hash: task to its JSON)  curriculumHistory (list of JSON points, newest first)  backlog (hash)
--       groupSummaries (hash: id of a buffered group to its JSON)  retainedTexts (list)
--       failedGroups (sorted set: id of a group that can be tried again, by time in ms)  dumpState (hash)
--       pendingRolloutRecords (list)  pendingFailedRecords (list)
-- ARGV  1 group id  2 result as JSON  3 facts as JSON, for the buffer
--       4 JSON: { epoch, revision: of the settings it was judged by, status, destination?, retriable, signal, task, now (ms), time (ISO 8601),
--                 counters: { name: amount } of the run, sums: { field: amount } of the task,
--                 step_sums: { field: amount } of the step, version?: its oldest policy version,
--                 share?: of its counted rollouts that are right, history_max,
--                 feed?: what the curriculum learns, and the position in the run's sequence that it learns it from,
--                 rollouts, scored: how many it has, and how many of them have a score,
--                 dump?: what parts/dump.lua is asked,
--                 failed_max, keep, keep_bytes, remembered, group_prefix, metrics_prefix }
--       5 channel  6 message  7 the group's record for the dumps
-- Gives nil if the group was done already, is gone, or belongs to an epoch that is over; 'changed' if the settings are not
-- those any more; else what became of its record, and the level of its task before and after if it moved the curriculum.
-- include ../../runs/scripts/parts/curriculum
-- include parts/queue-dump-record
-- include parts/statistics
-- include parts/retire-group
local ask = cjson.decode(ARGV[4])
local keys = {
  run = K.run, stock = K.backlog, texts = K.retainedTexts, curriculum = K.curriculum, history = K.curriculumHistory,
  outcomes = K.recentAccuracies, metrics = K.metricSteps, metrics_prefix = ask.metrics_prefix,
}
local id = ARGV[1]
local run = redis.call('HMGET', K.run, 'epoch', 'step', 'revision', 'position')
if tonumber(run[1]) ~= ask.epoch then
  return nil
end
local group = redis.call('HMGET', K.group, 'status', 'wants', 'rollouts')
if group[1] ~= 'queued' then
  return nil
end
if tonumber(run[3]) ~= ask.revision then
  return 'changed'
end
local seq = redis.call('HINCRBY', K.run, 'completed', 1)
redis.call('HSET', K.group, 'status', ask.status, 'result', ARGV[2], 'destination', ask.destination or '', 'seq', seq)
redis.call('ZREM', K.pendingGroups, id)
if group[2] == '1' then
  redis.call('HINCRBY', K.backlog, 'queued_groups', -1)
  redis.call('HINCRBY', K.backlog, 'queued_rollouts', -tonumber(group[3]))
end
redis.call('ZADD', K.recentGroups, seq, id)

-- Where the group goes: to the trainer, to those who may try again, or out of the way.
if ask.destination == 'buffered' then
  redis.call('ZADD', K.buffer, seq, id)
  redis.call('HSET', K.groupSummaries, id, ARGV[3])
  redis.call('HINCRBY', K.backlog, 'rollouts', ask.rollouts)
  redis.call('HINCRBY', K.backlog, 'scored_rollouts', ask.scored)
elseif ask.retriable then
  redis.call('ZADD', K.failedGroups, ask.now, id)
  local over = redis.call('ZCARD', K.failedGroups) - ask.failed_max
  local given_up = over > 0 and redis.call('ZRANGE', K.failedGroups, 0, over - 1)
    or redis.call('ZRANGEBYSCORE', K.failedGroups, 0, ask.now - ask.remembered, 'LIMIT', 0, 100)
  for _, old in ipairs(given_up) do
    redis.call('ZREM', K.failedGroups, old)
    settle(keys, ask, old)
  end
else
  settle(keys, ask, id)
end

for name, amount in pairs(ask.counters) do
  redis.call('HINCRBY', K.run, name, amount)
end
for field, amount in pairs(ask.sums) do
  redis.call('HINCRBYFLOAT', K.taskSums, field, amount)
end
local step = step_after(run[2], ask.version)
if ask.status == 'scored' then
  redis.call('HSET', K.taskSums, ask.task .. ':last_at', ask.now)
  if ask.signal then
    redis.call('HSET', K.run, 'last_scored_at', ask.now, 'last_signal_at', ask.now, 'groups_since_signal', 0)
  else
    redis.call('HSET', K.run, 'last_scored_at', ask.now)
    redis.call('HINCRBY', K.run, 'groups_since_signal', 1)
  end
  redis.call('HSET', K.run, 'groups_since_scored', 0)
  add_to_step(keys, step, ask.version, ask.step_sums)
else
  redis.call('HINCRBY', K.run, 'groups_since_scored', 1)
end
if ask.share then
  add_outcome(keys, ask.task, ask.share)
end

-- What is no longer kept is forgotten but for its content's hash, which tells a repeated post from a new one.
local over = math.min(redis.call('ZCARD', K.recentGroups) - ask.keep, 100)
if over > 0 then
  for _, old in ipairs(redis.call('ZRANGE', K.recentGroups, 0, over - 1)) do
    redis.call('ZREM', K.recentGroups, old)
    if not redis.call('HGET', ask.group_prefix .. old, 'waits') then
      redis.call('HDEL', ask.group_prefix .. old, unpack(KEPT))
    end
  end
end

local before, after
if ask.feed and ask.feed.position < tonumber(run[4] or 0) then -- an item that was handed out
  before, after = feed(keys, ask.task, ask.feed, step, ask.time, ask.history_max)
end
local kept = {}
if ask.dump then
  kept = dump({ dumps = K.dumpState, waiting = { rollouts = K.pendingRolloutRecords, failed = K.pendingFailedRecords } }, ask.dump, ARGV[7])
end
redis.call('PUBLISH', ARGV[5], ARGV[6])
return { kept, before or '', after or '' }
