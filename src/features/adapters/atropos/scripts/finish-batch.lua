-- Deletes a batch whose response was sent, with its groups. Repeated calls have no effect.
-- KEYS  store (hash)  batches (hash: batch ID to its JSON)  leases (sorted set: batch ID by when it is offered again)
-- ARGV  1 batch ID  2 prefix of the keys of groups
local json = redis.call('HGET', K.batches, ARGV[1])
if not json then
  return 0
end
redis.call('HDEL', K.batches, ARGV[1])
local groups, bytes = cjson.decode(json), 0
local latest = redis.call('HGET', K.store, STORE.latest)
for _, group in ipairs(groups) do
  bytes = bytes + group[2]
  if group[1] == latest then
    redis.call('HSET', K.store, STORE.latest_delivered, 1)
  else
    redis.call('UNLINK', ARGV[2] .. group[1])
  end
end
redis.call('HINCRBY', K.store, STORE.groups, -#groups)
redis.call('HINCRBY', K.store, STORE.bytes, -bytes)
redis.call('ZREM', K.leases, ARGV[1])
return 1
