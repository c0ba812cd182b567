-- Makes a batch of chosen groups: removes them from the queue and increments the step.
-- KEYS  store (hash)  queue (sorted set: group ID by arrival)  entries (hash: group ID to its figures)
--       counts (hash: environment:sequences to groups)  batches (hash: batch ID to its JSON)
--       leases (sorted set: batch ID by when it is offered again)
-- ARGV  1 JSON: { now (ms), lease_ms, last_batch: the last batch ID when the queue was read, groups: [ID], keep_ms }
-- Returns { 'batch', its ID, its JSON: [[group ID, stored bytes, JSON bytes], …] }, or { 'changed' } if another batch was made or the store was
-- emptied since the queue was read.
local params = cjson.decode(ARGV[1])
if (redis.call('HGET', K.store, STORE.last_batch) or '0') ~= params.last_batch then
  return { 'changed' }
end
local entries = {}
for k, id in ipairs(params.groups) do
  entries[k] = redis.call('HGET', K.entries, id)
  if not entries[k] then
    return { 'changed' }
  end
end
redis.call('HDEL', K.batches, '') -- so that a full Redis lets the script go on: see next-batch
local sequences, batch = 0, {}
for k, id in ipairs(params.groups) do
  local size, environment, bytes, json_bytes = string.match(entries[k], '^(%d+)|(%-?%d*)|%d+|(%d+)|(%d+)$')
  sequences = sequences + tonumber(size)
  batch[k] = string.format('["%s",%s,%s]', id, bytes, json_bytes)
  redis.call('ZREM', K.queue, id)
  redis.call('HDEL', K.entries, id)
  local count = environment .. ':' .. size
  if redis.call('HINCRBY', K.counts, count, -1) <= 0 then
    redis.call('HDEL', K.counts, count)
  end
end
local json = '[' .. table.concat(batch, ',') .. ']'
local id = tostring(redis.call('HINCRBY', K.store, STORE.last_batch, 1))
redis.call('HINCRBY', K.store, STORE.step, 1)
redis.call('HINCRBY', K.store, STORE.sequences, -sequences)
redis.call('HSET', K.batches, id, json)
redis.call('ZADD', K.leases, params.now + params.lease_ms, id)
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, params.keep_ms)
end
return { 'batch', id, json }
