-- Puts the groups of a submission into the queue, all or none. A repeated submission whose response was lost adds nothing.
-- KEYS  store (hash)  queue (sorted set: group ID by arrival)  entries (hash: group ID to its figures)
--       counts (hash: environment:sequences to groups)  unanswered (sorted set: digest by time)
-- ARGV  1 JSON: { now (ms), digest, unanswered_ms: how long a digest is kept, max_groups, max_bytes, batch_size, keep_ms,
--                 group_prefix, groups: [{ sequences, environment, bytes, json_bytes }] }
--       2… the packed groups
-- Returns 'accepted', 'repeated' or 'full'.
local params = cjson.decode(ARGV[1])
local accepted_at = redis.call('ZSCORE', K.unanswered, params.digest)
if accepted_at and params.now - accepted_at < params.unanswered_ms then
  return 'repeated'
end
local bytes, sequences = 0, 0
for _, group in ipairs(params.groups) do
  bytes, sequences = bytes + group.bytes, sequences + group.sequences
end
local queued = tonumber(redis.call('HGET', K.store, STORE.sequences) or 0)
local groups = tonumber(redis.call('HGET', K.store, STORE.groups) or 0)
local held = tonumber(redis.call('HGET', K.store, STORE.bytes) or 0)
-- The limit is higher for small groups, because a large batch would otherwise never fill.
if held + bytes > params.max_bytes or (groups >= params.max_groups and queued >= 2 * params.batch_size) then
  return 'full'
end
-- The first write allocates memory, so a full Redis rejects the whole script.
redis.call('ZADD', K.unanswered, params.now, params.digest)
if redis.call('HGET', K.store, STORE.latest_delivered) == '1' then
  redis.call('UNLINK', params.group_prefix .. redis.call('HGET', K.store, STORE.latest))
end
local id
for k, group in ipairs(params.groups) do
  local number = redis.call('HINCRBY', K.store, STORE.last_group, 1)
  id = tostring(number)
  redis.call('SET', params.group_prefix .. id, ARGV[k + 1], 'PX', params.keep_ms)
  redis.call('ZADD', K.queue, number, id)
  redis.call('HSET', K.entries, id, table.concat(
    { group.sequences, group.environment, string.format('%d', params.now), group.bytes, group.json_bytes }, '|'))
  redis.call('HINCRBY', K.counts, group.environment .. ':' .. group.sequences, 1)
end
redis.call('HINCRBY', K.store, STORE.sequences, sequences)
redis.call('HINCRBY', K.store, STORE.groups, #params.groups)
redis.call('HINCRBY', K.store, STORE.bytes, bytes)
redis.call('HSET', K.store, STORE.latest, id, STORE.latest_delivered, 0)
redis.call('ZREMRANGEBYSCORE', K.unanswered, '-inf', params.now - params.unanswered_ms)
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, params.keep_ms)
end
return 'accepted'
