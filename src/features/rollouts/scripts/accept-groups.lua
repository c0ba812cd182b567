-- Accepts groups of a run: stores the record, texts and arrays of each and adds it to the pending ones, all or nothing.
-- A group that is posted twice is accepted once.
-- KEYS  run (hash)  pendingGroups (sorted set: group ID by time)  buffer (sorted set)  backlog (hash)
--       leaseExpiries (sorted set: position by end)  leasedItems (hash: position to its state)
--       allGroups (sorted set: group ID by the time when its key expires)  stepStates (sorted set: number of a state by step)
-- ARGV  1 JSON: { epoch, revision, now (ms), max_groups: queued, buffered and in open batches, group_key_prefix,
--                 texts_key_prefix, arrays_key_prefix, groups: [{ id, content_hash, bytes: of texts and arrays, rollouts,
--                   for_buffer: whether the group is to wait for a trainer, server_full: a new group is not accepted,
--                   lease?: { position, task } of its item, if the run's sequence may have issued it,
--                   policy_version?: the lowest of its rollouts }] }
--       2 and on: metadata, texts and arrays of each group; arrays are empty if it has none
-- Returns 'run_changed' (the settings were changed, or the run was restored or deleted), or for each group: 'new',
-- 'duplicate' (the same content was accepted before), 'conflict' (different content), or 'buffer_full'.
-- include ../../runs/sequence/scripts/parts/position-state
-- include ../../runs/scripts/parts/step-states
-- include parts/hash-changes
local params = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.posts_held_since)
if tonumber(run[1]) ~= params.epoch or tonumber(run[2]) ~= params.revision then
  return 'run_changed'
end
local run_changes, backlog_changes = open_changes(K.run), open_changes(K.backlog)
local waiting
local accepted, is_full = {}, false -- accepted: by ID
local held_since = tonumber(run[3] or 0)

local function has_room()
  if not waiting then
    local backlog = redis.call('HMGET', K.backlog, BACKLOG.queued_groups, BACKLOG.open_batch_groups)
    waiting = tonumber(backlog[1] or 0) + redis.call('ZCARD', K.buffer) + tonumber(backlog[2] or 0)
  end
  return waiting < params.max_groups
end

-- Decides on a group, and counts it if it is new.
local function decide(group)
  local twin = accepted[group.id]
  local known = twin and twin.content_hash or redis.call('HGET', params.group_key_prefix .. group.id, GROUP.content_hash)
  if known then
    return known == group.content_hash and 'duplicate' or 'conflict'
  end
  if group.server_full or group.for_buffer and not has_room() then
    is_full = true
    return 'buffer_full'
  end
  if group.for_buffer then
    waiting = waiting + 1
    add_amount(backlog_changes, BACKLOG.queued_groups, 1)
    add_amount(backlog_changes, BACKLOG.queued_rollouts, group.rollouts)
  end
  add_amount(backlog_changes, BACKLOG.bytes, group.bytes)
  add_amount(run_changes, RUN.groups, 1)
  add_amount(run_changes, RUN.rollouts, group.rollouts)
  accepted[group.id] = group
  return 'new'
end

local replies = {}
for k, group in ipairs(params.groups) do
  replies[k] = decide(group)
end
if not next(accepted) then
  if is_full and held_since == 0 then
    redis.pcall('HSET', K.run, RUN.posts_held_since, params.now) -- a full Redis rejects it
  end
  return replies
end
if held_since > 0 then
  set_value(run_changes, RUN.posts_held_since, 0)
  add_amount(run_changes, RUN.posts_held_ms, math.max(0, params.now - held_since))
end
local version
for _, group in pairs(accepted) do
  version = group.policy_version and math.max(version or 0, group.policy_version) or version
end
if version then
  begin_step(K.run, K.stepStates, version, 'groups', params.now)
end
read_sums(run_changes)
read_sums(backlog_changes)
set_value(run_changes, RUN.last_accepted_at, params.now)

local pending, all = {}, {}
for k, group in ipairs(params.groups) do
  if replies[k] == 'new' then
    redis.call('HSET', params.group_key_prefix .. group.id, GROUP.content_hash, group.content_hash,
      GROUP.metadata, ARGV[3 * k - 1], GROUP.status, 'queued', GROUP.accepted_at, params.now,
      GROUP.rollouts, group.rollouts, GROUP.for_buffer, group.for_buffer and 1 or 0, GROUP.bytes, group.bytes,
      GROUP.awaiting_delivery, 1)
    redis.call('SET', params.texts_key_prefix .. group.id, ARGV[3 * k])
    if ARGV[3 * k + 1] ~= '' then
      redis.call('SET', params.arrays_key_prefix .. group.id, ARGV[3 * k + 1])
    end
    table.insert(pending, params.now)
    table.insert(pending, group.id)
    table.insert(all, '+inf')
    table.insert(all, group.id)
    local lease = group.lease
    local leased = lease and get_state(K.leasedItems, lease.position)
    if leased and (not is_made(leased) or string.match(leased.task, '^[^{]*') == lease.task) then -- the group's item has returned
      redis.call('ZREM', K.leaseExpiries, lease.position)
      redis.call('HDEL', K.leasedItems, lease.position)
    end
  end
end
redis.call('ZADD', K.pendingGroups, unpack(pending))
redis.call('ZADD', K.allGroups, unpack(all))
write_changes(run_changes)
write_changes(backlog_changes)
return replies
