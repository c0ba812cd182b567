-- Completes graded groups of a run, each once: result, buffer, counters, curriculum and notification in one step.
-- KEYS  run (hash)  pendingGroups (sorted set)  buffer (sorted set: group ID by order of completion)
--       retainedGroups (sorted set: group ID by order of completion)  taskSums (hash: task to its packed sums)
--       curriculum (hash: task to its JSON)  curriculumHistory (list of JSON points, newest first)  backlog (hash)
--       groupSummaries (hash: ID of a buffered group to its JSON)  retainedTexts (list)
--       failedGroups (sorted set: ID of a group that can be retried, by time in ms)  dumpState (hash)
--       pendingRolloutRecords (records that wait for a file of rollouts (list))
--       pendingFailedRecords (records that wait for a file of failed groups (list))  recentAccuracies (hash)  learnability (hash)
--       recentOutcomes (hash: task to its number of outcomes, and `TASK:PLACE` in a ring to one of its last outcomes)
--       metricSteps (sorted set of steps)  metricBlocks (sorted set of first groups)
--       stepSums, blockSums (hashes: step or first group to its packed sums)
--       allGroups (sorted set: group ID by the time when its key expires)  frontierEvidence (list of JSON, oldest first)
-- ARGV  1 JSON: { channel, epoch, revision: of the settings that the groups were graded by, now (ms), time (ISO 8601), max_accuracies,
--                 max_history, max_learnability, max_retriable, max_outcomes: of a task, the limits of parts/retire-group,
--                 step_state_prefix,
--                 groups: [{ id, content_hash: of what was graded, message, status, destination?, retriable, signal, rewards: of its rollouts, as JSON ('' for none), mean_reward: as text ('' for none),
--                   task, counters: { field: amount } of the run, sums: { field: amount } of its task and step,
--                   policy_version?: the oldest, percent_correct?: of its counted rollouts,
--                   learnability?: evidence as text, without the group's number,
--                   curriculum_input?: what the curriculum learns, with the item's position in the run's sequence,
--                   frontier_input?: { position, evidence: what the frontier learns, as JSON, max_evidence: that may wait },
--                   rollouts, scored: how many of them have a score, dump?: the request of parts/queue-dump-record }] }
--       and of each group:  result as JSON  summary as JSON, for the buffer  its record for the dumps
--                           its packed outcome, of the same size for all groups; empty for a failed group
-- Returns nil if the run is gone or in another epoch, or 'run_changed' if the revision is different; else
-- for each group: false if it was completed before or no longer exists, or the lengths of the dump queues, the level of
-- its task before and after if it moved the curriculum, and 1 if its evidence waits to be folded.
-- include ../../runs/curriculum/scripts/parts/move-level
-- include parts/queue-dump-record
-- include parts/hash-changes
-- include parts/statistics
-- include parts/retire-group
local ARGS_PER_GROUP = 4
local params = cjson.decode(ARGV[1])
local keys = {
  run = K.run, backlog = K.backlog, retained_texts = K.retainedTexts, all_groups = K.allGroups,
  curriculum = K.curriculum, history = K.curriculumHistory,
}
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.step, RUN.revision, RUN.position, RUN.requested_end, RUN.completed,
  RUN.state, RUN.steps_named_by, RUN.named_step)
if tonumber(run[1]) ~= params.epoch then
  return nil
end
local last_step = tonumber(run[2] or run[8] == 'ends' and run[9])
local step_state = run[7] and params.step_state_prefix .. run[7]
-- only positions whose items may have been issued
local positions_end = math.max(tonumber(run[4] or 0), tonumber(run[5] or 0))
local changes = { run = open_changes(K.run), backlog = open_changes(K.backlog) }
local tasks, steps, blocks = {}, {}, {}

local function add_sums(group)
  add_amounts(changes.run, group.counters)
  if group.status ~= 'scored' then
    add_amount(changes.run, RUN.groups_since_scored, 1)
    return
  end
  set_value(changes.run, RUN.last_scored_at, params.now)
  set_value(changes.run, RUN.groups_since_scored, 0)
  if group.signal then
    set_value(changes.run, RUN.last_signal_at, params.now)
    set_value(changes.run, RUN.groups_since_signal, 0)
  else
    add_amount(changes.run, RUN.groups_since_signal, 1)
  end
  add_to_row(tasks, K.taskSums, nil, group.task, group.sums, params.now)
  if group.policy_version then
    group.sums[SUMS.lag_count] = 1
    group.sums[SUMS.lag_sum] = math.max(0, group.step - group.policy_version)
  elseif not last_step then
    add_to_row(blocks, K.blockSums, K.metricBlocks, first_of_block(group.number), group.sums, params.now)
  end
  add_to_row(steps, K.stepSums, K.metricSteps, group.step, group.sums, params.now)
end

-- Nothing is written until all is read that may turn out not to be a number.
local replies, open, seen = {}, {}, {}
for k, group in ipairs(params.groups) do
  local stored = not seen[group.id]
    and redis.call('HMGET', params.group_key_prefix .. group.id, GROUP.status, GROUP.for_buffer, GROUP.rollouts, GROUP.content_hash)
  seen[group.id] = true
  replies[k] = false
  -- after a rewind, another group may have the ID
  if stored and stored[1] == 'queued' and (group.content_hash or stored[4]) == stored[4] then
    if tonumber(run[3]) ~= params.revision then
      return 'run_changed'
    end
    table.insert(open, group)
    group.at = k
    group.number = tonumber(run[6] or 0) + #open
    group.step = next_step(last_step, group.policy_version)
    add_sums(group)
    if stored[2] == '1' then
      add_amount(changes.backlog, BACKLOG.queued_groups, -1)
      add_amount(changes.backlog, BACKLOG.queued_rollouts, 0 - (tonumber(stored[3]) or 0))
    end
    if group.destination == 'buffered' then
      add_amount(changes.backlog, BACKLOG.buffered_rollouts, group.rollouts)
      add_amount(changes.backlog, BACKLOG.buffered_scored_rollouts, group.scored)
    end
  end
end
if not open[1] then
  return replies
end
for _, of in pairs(changes) do
  read_sums(of)
end

-- The group goes to the trainer, waits to be retried, or is retired.
local function dispatch(group, summaries, buffered)
  local id = group.id
  if group.destination == 'buffered' then
    table.insert(buffered, group.number)
    table.insert(buffered, id)
    table.insert(summaries, id)
    table.insert(summaries, ARGV[group.first_arg + 1])
  elseif group.retriable then
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
end

-- Returns the level of the task before and after, if the group moved it, and 1 if its evidence waits to be folded.
local function teach(group)
  local before, after
  local input = group.curriculum_input
  if input and input.position < positions_end then
    before, after = update_curriculum(keys, group.task, input, group.step, params.time, params.max_history)
  end
  local frontier, has_evidence = group.frontier_input, 0
  if frontier and frontier.position < positions_end then
    has_evidence = 1
    local evidence = string.format('{"step":%.0f,', group.step) .. string.sub(frontier.evidence, 2)
    if redis.call('RPUSH', K.frontierEvidence, evidence) > frontier.max_evidence then
      redis.call('LPOP', K.frontierEvidence)
      redis.call('HINCRBY', K.run, RUN.folded_evidence, 1)
    end
  end
  return before or '', after or '', has_evidence
end

-- Must come first: it decides whether a full Redis takes the script.
redis.call('HINCRBY', K.run, RUN.completed, #open)
local ids, retained, buffered, summaries = {}, {}, {}, {}
local accuracies, evidence, outcomes = {}, {}, {}

local function append(lists, task, entry)
  lists[task] = lists[task] or {}
  table.insert(lists[task], entry)
end

for _, group in ipairs(open) do
  group.first_arg = 2 + (group.at - 1) * ARGS_PER_GROUP
  redis.call('HSET', params.group_key_prefix .. group.id, GROUP.status, group.status, GROUP.result, ARGV[group.first_arg],
    GROUP.rewards, group.rewards, GROUP.destination, group.destination or '',
    GROUP.mean_reward, group.mean_reward, GROUP.completion_number, group.number)
  table.insert(ids, group.id)
  table.insert(retained, group.number)
  table.insert(retained, group.id)
  dispatch(group, summaries, buffered)
  if group.percent_correct then
    append(accuracies, group.task, string.format('%.6g', group.percent_correct))
  end
  if group.learnability then
    append(evidence, group.task, group.learnability .. ' ' .. string.format('%.0f', group.number))
  end
  if ARGV[group.first_arg + 3] ~= '' then
    append(outcomes, group.task, ARGV[group.first_arg + 3])
  end
  local before, after, has_evidence = teach(group)
  local queue_lengths = {}
  if group.dump then
    local pending = { rollouts = K.pendingRolloutRecords, failed = K.pendingFailedRecords }
    queue_lengths =
      queue_dump_record({ dumps = K.dumpState, pending = pending }, group.dump, ARGV[group.first_arg + 2])
  end
  replies[group.at] = { queue_lengths, before, after, has_evidence }
end

redis.call('ZREM', K.pendingGroups, unpack(ids))
redis.call('ZADD', K.retainedGroups, unpack(retained))
if buffered[1] then
  redis.call('ZADD', K.buffer, unpack(buffered))
  redis.call('HSET', K.groupSummaries, unpack(summaries))
end
for _, of in pairs(changes) do
  write_changes(of)
end
for _, rows in ipairs({ tasks, steps, blocks }) do
  write_rows(rows, step_state)
end
drop_old_steps(K.metricSteps, K.stepSums)
for task, entries in pairs(accuracies) do
  append_recent(K.recentAccuracies, task, entries, params.max_accuracies)
end
for task, entries in pairs(evidence) do
  append_recent(K.learnability, task, entries, params.max_learnability)
end
for task, entries in pairs(outcomes) do
  local count = redis.call('HINCRBY', K.recentOutcomes, task, #entries) - #entries
  local places = {}
  for k, entry in ipairs(entries) do
    table.insert(places, task .. ':' .. (count + k) % params.max_outcomes)
    table.insert(places, entry)
  end
  redis.call('HSET', K.recentOutcomes, unpack(places))
end

-- Groups that are no longer retained keep the content hash and the rewards, to detect and answer a repeated post.
local excess = math.min(redis.call('ZCARD', K.retainedGroups) - params.max_retained_groups, 100)
if excess > 0 then
  for _, old_id in ipairs(redis.call('ZRANGE', K.retainedGroups, 0, excess - 1)) do
    redis.call('ZREM', K.retainedGroups, old_id)
    if redis.call('HEXISTS', params.group_key_prefix .. old_id, GROUP.awaiting_delivery) == 0 then
      delete_payload(params, old_id)
      redis.call('HDEL', params.group_key_prefix .. old_id, unpack(RETAINED_FIELDS))
    end
  end
end

for _, group in ipairs(open) do
  redis.call('PUBLISH', params.channel, group.message)
end
return replies
