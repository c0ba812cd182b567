-- Empties a store. IDs continue, so that old data is never mistaken for new.
-- KEYS  store (hash)  environments  heard  queue (sorted set: group ID by arrival)  entries  counts
--       batches (hash: batch ID to its JSON)  leases  unanswered
-- ARGV  1 prefix of the keys of groups
redis.call('UNLINK', K.unanswered)
for _, id in ipairs(redis.call('ZRANGE', K.queue, 0, -1)) do
  redis.call('UNLINK', ARGV[1] .. id)
end
for _, json in ipairs(redis.call('HVALS', K.batches)) do
  for _, group in ipairs(cjson.decode(json)) do
    redis.call('UNLINK', ARGV[1] .. group[1])
  end
end
local latest = redis.call('HGET', K.store, STORE.latest)
if latest then
  redis.call('UNLINK', ARGV[1] .. latest)
end
local last_group = redis.call('HGET', K.store, STORE.last_group) or 0
local last_batch = redis.call('HINCRBY', K.store, STORE.last_batch, 1)
redis.call('UNLINK', K.store, K.environments, K.heard, K.queue, K.entries, K.counts, K.batches, K.leases)
redis.call('HSET', K.store, STORE.last_group, last_group, STORE.last_batch, last_batch)
return 1
