-- Completes a group once: result, buffer, counters, curriculum and notification in one step.
-- KEYS  run (hash)  group (hash)  pendingGroups (sorted set)  buffer (sorted set: group ID by order of completion)
--       retainedGroups (sorted set: group ID by order of completion)  taskSums (hash of sums per task)
--       curriculum (hash: task to its JSON)  curriculumHistory (list of JSON points, newest first)  backlog (hash)
--       groupSummaries (hash: ID of a buffered group to its JSON)  retainedTexts (list)
--       failedGroups (sorted set: ID of a group that can be retried, by time in ms)  dumpState (hash)
--       pendingRolloutRecords (records that wait for a file of rollouts (list))
--       pendingFailedRecords (records that wait for a file of failed groups (list))
--       recentAccuracies (hash)  learnability (hash)
--       recentOutcomes (hash: task to its number of outcomes, and `TASK:PLACE` in a ring to one of its last outcomes)
--       metricSteps (sorted set of steps)  metricBlocks (sorted set of first groups)
--       allGroups (sorted set: group ID by the time when its key expires)
--       frontierEvidence (list of JSON, oldest first)  releasedPayloads (set)
-- ARGV  1 JSON: { id: of the group, channel, message, epoch, revision: of the settings that the group was graded by, status, destination?, retriable, signal,
--                 rewards: of its rollouts, as JSON ('' for none), task, now (ms), time (ISO 8601),
--                 counters: { field: amount } of the run,
--                 task_sums: { field: amount }, step_sums: { field: amount }, policy_version?: the oldest,
--                 percent_correct?: of its counted rollouts, max_accuracies, max_history,
--                 learnability?: evidence as text, without the group's number; max_learnability,
--                 curriculum_input?: what the curriculum learns, with the item's position in the run's sequence,
--                 frontier_input?: { position, evidence: what the frontier learns, as JSON, max_evidence: that may wait },
--                 rollouts, scored: how many of them have a score, dump?: the request of parts/queue-dump-record,
--                 max_retriable, max_outcomes: of a task, the limits of parts/retire-group, metric_sums_prefix,
--                 block_sums_prefix }
--       2 result as JSON  3 summary as JSON, for the buffer  4 the group's record for the dumps
--       5 the group's packed outcome, of the same size for all groups; empty for a failed group
-- Returns nil if the group was completed before, no longer exists, or belongs to an earlier epoch; 'run_changed' if the
-- revision is different; else the lengths of the dump queues, the level of its task before and after if it moved the
-- curriculum, 1 if its evidence waits to be folded, and the released payloads.
-- include ../../runs/scripts/parts/curriculum
-- include parts/queue-dump-record
-- include parts/statistics
-- include parts/retire-group
local params = cjson.decode(ARGV[1])
local keys = {
  run = K.run, backlog = K.backlog, retained_texts = K.retainedTexts, all_groups = K.allGroups,
  releases = {},
  curriculum = K.curriculum,
  history = K.curriculumHistory, metric_steps = K.metricSteps, metric_blocks = K.metricBlocks,
  metric_sums_prefix = params.metric_sums_prefix, block_sums_prefix = params.block_sums_prefix,
}
local id = params.id
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.step, RUN.revision, RUN.position, RUN.requested_end)
if tonumber(run[1]) ~= params.epoch then
  return nil
end
local group = redis.call('HMGET', K.group, GROUP.status, GROUP.for_buffer, GROUP.rollouts)
if group[1] ~= 'queued' then
  return nil
end
if tonumber(run[3]) ~= params.revision then
  return 'run_changed'
end
local number = redis.call('HINCRBY', K.run, RUN.completed, 1)
redis.call('HSET', K.group, GROUP.status, params.status, GROUP.result, ARGV[2],
  GROUP.rewards, params.rewards, GROUP.destination, params.destination or '', GROUP.completion_number, number)
redis.call('ZREM', K.pendingGroups, id)
if group[2] == '1' then
  redis.call('HINCRBY', K.backlog, BACKLOG.queued_groups, -1)
  redis.call('HINCRBY', K.backlog, BACKLOG.queued_rollouts, 0 - (tonumber(group[3]) or 0))
end
redis.call('ZADD', K.retainedGroups, number, id)

-- The group goes to the trainer, waits to be retried, or is retired.
if params.destination == 'buffered' then
  redis.call('ZADD', K.buffer, number, id)
  redis.call('HSET', K.groupSummaries, id, ARGV[3])
  redis.call('HINCRBY', K.backlog, BACKLOG.buffered_rollouts, params.rollouts)
  redis.call('HINCRBY', K.backlog, BACKLOG.buffered_scored_rollouts, params.scored)
elseif params.retriable then
  redis.call('ZADD', K.failedGroups, params.now, id)
  local excess = redis.call('ZCARD', K.failedGroups) - params.max_retriable
  local expired = excess > 0 and redis.call('ZRANGE', K.failedGroups, 0, excess - 1)
    or redis.call('ZRANGEBYSCORE', K.failedGroups, 0, params.now - params.duplicate_detection_ms, 'LIMIT', 0, 100)
  for _, old_id in ipairs(expired) do
    redis.call('ZREM', K.failedGroups, old_id)
    retire_group(keys, params, old_id)
  end
else
  retire_group(keys, params, id)
end

for field, amount in pairs(params.counters) do
  redis.call('HINCRBY', K.run, field, amount)
end
for field, amount in pairs(params.task_sums) do
  redis.call('HINCRBYFLOAT', K.taskSums, field, amount)
end
local step = next_step(run[2], params.policy_version)
if params.status == 'scored' then
  redis.call('HSET', K.taskSums, params.task .. ':' .. TASK.last_completed_at, params.now)
  if params.signal then
    redis.call('HSET', K.run, RUN.last_scored_at, params.now, RUN.last_signal_at, params.now, RUN.groups_since_signal, 0)
  else
    redis.call('HSET', K.run, RUN.last_scored_at, params.now)
    redis.call('HINCRBY', K.run, RUN.groups_since_signal, 1)
  end
  redis.call('HSET', K.run, RUN.groups_since_scored, 0)
  add_step_sums(keys, step, params.policy_version, params.step_sums)
  if not run[2] and not params.policy_version then
    add_block_sums(keys, number, params.now, params.step_sums)
  end
else
  redis.call('HINCRBY', K.run, RUN.groups_since_scored, 1)
end
if params.percent_correct then
  append_recent(K.recentAccuracies, params.task, string.format('%.6g', params.percent_correct), params.max_accuracies)
end
if params.learnability then
  local entry = params.learnability .. ' ' .. string.format('%.0f', number)
  append_recent(K.learnability, params.task, entry, params.max_learnability)
end
if ARGV[5] ~= '' then
  local count = redis.call('HINCRBY', K.recentOutcomes, params.task, 1)
  redis.call('HSET', K.recentOutcomes, params.task .. ':' .. count % params.max_outcomes, ARGV[5])
end

-- Groups that are no longer retained keep the content hash and the rewards, to detect and answer a repeated post.
local excess = math.min(redis.call('ZCARD', K.retainedGroups) - params.max_retained_groups, 100)
if excess > 0 then
  for _, old_id in ipairs(redis.call('ZRANGE', K.retainedGroups, 0, excess - 1)) do
    redis.call('ZREM', K.retainedGroups, old_id)
    local old = redis.call('HMGET', params.group_key_prefix .. old_id, GROUP.awaiting_delivery, GROUP.payload)
    if not old[1] then
      release_payload(keys.releases, 'all', old[2])
      redis.call('HDEL', params.group_key_prefix .. old_id, unpack(RETAINED_FIELDS))
    end
  end
end

local before, after
local input = params.curriculum_input
-- only positions whose items may have been issued
local positions_end = math.max(tonumber(run[4] or 0), tonumber(run[5] or 0))
if input and input.position < positions_end then
  before, after = update_curriculum(keys, params.task, input, step, params.time, params.max_history)
end
local frontier, has_evidence = params.frontier_input, 0
if frontier and frontier.position < positions_end then
  has_evidence = 1
  local evidence = string.format('{"step":%.0f,', step) .. string.sub(frontier.evidence, 2)
  if redis.call('RPUSH', K.frontierEvidence, evidence) > frontier.max_evidence then
    redis.call('LPOP', K.frontierEvidence)
    redis.call('HINCRBY', K.run, RUN.folded_evidence, 1)
  end
end
local queue_lengths = {}
if params.dump then
  local pending = { rollouts = K.pendingRolloutRecords, failed = K.pendingFailedRecords }
  queue_lengths = queue_dump_record({ dumps = K.dumpState, pending = pending }, params.dump, ARGV[4])
end
list_releases(K.releasedPayloads, keys.releases)
redis.call('PUBLISH', params.channel, params.message)
return { queue_lengths, before or '', after or '', has_evidence, keys.releases }
