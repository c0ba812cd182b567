-- Takes a batch whose response was not delivered, or reads the queue, so that the caller can choose a new one.
-- KEYS  store (hash)  queue (sorted set: group ID by arrival)  entries (hash: group ID to its figures)
--       batches (hash: batch ID to its JSON)  leases (sorted set: batch ID by when it is offered again)
-- ARGV  1 JSON: { now (ms), lease_ms, max_groups: how many of the oldest are read }
-- Returns { 'unregistered' }, { 'insufficient' }, { 'batch', its ID, its JSON } or
-- { 'queue', last batch ID, group ID, its figures, … }.
local params = cjson.decode(ARGV[1])
if not redis.call('HGET', K.store, STORE.registration) then
  return { 'unregistered' }
end
-- A full Redis lets a script continue after a write that needs no memory. Taking a batch frees memory.
redis.call('HDEL', K.batches, '')
redis.call('HSET', K.store, STORE.started, 1)
local oldest
for _, id in ipairs(redis.call('ZRANGEBYSCORE', K.leases, '-inf', params.now)) do
  if not oldest or tonumber(id) < tonumber(oldest) then
    oldest = id
  end
end
if oldest then
  redis.call('ZADD', K.leases, params.now + params.lease_ms, oldest)
  return { 'batch', oldest, redis.call('HGET', K.batches, oldest) }
end
local registration = cjson.decode(redis.call('HGET', K.store, STORE.registration))
if tonumber(redis.call('HGET', K.store, STORE.sequences) or 0) < registration.batch_size then
  return { 'insufficient' }
end
local reply = { 'queue', redis.call('HGET', K.store, STORE.last_batch) or '0' }
local ids = redis.call('ZRANGE', K.queue, 0, params.max_groups - 1)
for first = 1, #ids, 1000 do
  local last = math.min(first + 999, #ids)
  for k, entry in ipairs(redis.call('HMGET', K.entries, unpack(ids, first, last))) do
    table.insert(reply, ids[first + k - 1])
    table.insert(reply, entry)
  end
end
return reply
