-- Records a sample before its answer is sent. It counts once confirm-samples learns that the answer was delivered.
-- KEYS  run (hash)  openGroups (sorted set: item by its latest sample)  openGroup (hash)  openGroupTotals (hash)
--       pendingSamples (sorted set: `ITEM ID` by time)  closedGroups (sorted set)
--       countedRollouts (sorted set: IDs of named samples of groups that are closed)
--       sampleProcesses (hash: process to its last sign of life, ms of the Redis clock)  groupSizes (hash)
-- ARGV  1 JSON: { epoch, revision, now (ms), arrived: when its call arrived (ms), id: ID of the sample, call: token of the call that brought it,
--                 content: hash of its content, reward: a number as text, or '' if it could not be scored, item: key of the item, item_id, is_named: whether the client named the rollout,
--                 size?: samples of a group, if the trainer says so, group_size: the setting, max_groups: limit on open and closed groups, max_bytes: limit on their rollouts }
--       2 its rollout, packed
-- Returns 'gathered', 'duplicate' (that name is already recorded), 'limit' (not recorded), or 'run_changed' (the settings
-- changed, or the run was restored or deleted).
-- include parts/samples
-- include ../../../runs/scripts/parts/clock
local params = cjson.decode(ARGV[1])
-- include parts/passes
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if tonumber(run[1]) ~= params.epoch or tonumber(run[2]) ~= params.revision then
  return 'run_changed'
end
local id, call, content = params.id, params.call, params.content
local heard_at = clock_ms()
redis.call('HSET', K.sampleProcesses, process_of(call), heard_at)
local member = params.item .. ' ' .. id
local known = redis.call('HGET', K.openGroup, OPEN.pending_prefix .. id)
if known then -- sent again under its name, or this very call noted it and did not hear the reply
  local pending = read_pending(K.openGroup, id, known)
  local is_same_call = pending.call == call
  pending.call, pending.content = call, content
  redis.call('ZADD', K.pendingSamples, params.now, member)
  redis.call('HSET', K.openGroup, OPEN.pending_prefix .. id, cjson.encode(pending))
  return is_same_call and 'gathered' or 'duplicate'
end
if redis.call('HEXISTS', K.openGroup, OPEN.texts_prefix .. id) == 1 then
  return 'duplicate'
end
if params.is_named and redis.call('ZSCORE', K.countedRollouts, id) then
  return 'duplicate'
end
if redis.call('EXISTS', K.openGroup) == 0
  and redis.call('ZCARD', K.openGroups) + redis.call('ZCARD', K.closedGroups) >= params.max_groups then
  return 'limit'
end
local bytes = #ARGV[2]
if tonumber(redis.call('HGET', K.openGroupTotals, TOTALS.bytes) or 0) + bytes > params.max_bytes then
  return 'limit'
end
note_place()
redis.call('HSET', K.openGroup, OPEN.item_id, params.item_id, OPEN.texts_prefix .. id, ARGV[2],
  OPEN.reward_prefix .. id, params.reward, OPEN.pending_prefix .. id, cjson.encode({ call = call, content = content }))
redis.call('HINCRBY', K.openGroup, OPEN.pending, 1)
redis.call('HINCRBY', K.openGroup, OPEN.bytes, bytes)
redis.call('HINCRBY', K.openGroupTotals, TOTALS.bytes, bytes)
redis.call('ZADD', K.openGroups, params.now, params.item)
redis.call('ZADD', K.pendingSamples, params.now, member)
if params.is_named then
  return 'gathered'
end
-- An equal sample that another process recorded and has not confirmed: if that process is dead, this sample is the retry.
local unmatched = {}
local is_matched = false
for _, other in ipairs(words(redis.call('HGET', K.openGroup, OPEN.unmatched_prefix .. content))) do
  if not is_matched and process_of(other) ~= process_of(id) then
    local pending = read_pending(K.openGroup, other, redis.call('HGET', K.openGroup, OPEN.pending_prefix .. other))
    if pending.call then
      pending.retried_at = heard_at
      redis.call('HSET', K.openGroup, OPEN.pending_prefix .. other, cjson.encode(pending))
      is_matched = true
    end
  else
    table.insert(unmatched, other)
  end
end
table.insert(unmatched, id)
set_words(K.openGroup, OPEN.unmatched_prefix .. content, unmatched)
return 'gathered'
