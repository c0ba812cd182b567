-- Adds to the total size of all dumps, or rejects the change.
-- KEYS  dumpSpace (hash)
-- ARGV  1 bytes, negative to release them  2 now, ms  3 limit of the sum (optional)
-- Returns 1, or 0 if the sum would exceed the limit.
local bytes = tonumber(redis.call('HGET', K.dumpSpace, SPACE.bytes) or 0) + tonumber(ARGV[1])
if ARGV[3] and bytes > tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', K.dumpSpace, SPACE.bytes, bytes, SPACE.changed_at, ARGV[2])
return 1
