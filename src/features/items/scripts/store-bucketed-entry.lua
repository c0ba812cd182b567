-- Stores an item's entry for a while and removes the bucket's oldest ones. An entry larger than a bucket is not stored.
-- KEYS  bucket (sorted set: `BYTES:ID` of its entries by time)  bytes (their sum)  entry (string)
-- ARGV  1 item ID  2 entry as JSON  3 now, ms  4 lifetime, ms  5 limit of entries in the bucket  6 limit of their bytes
--       7 prefix of entry keys
if #ARGV[2] > tonumber(ARGV[6]) then
  return 0
end
redis.call('SET', K.entry, ARGV[2], 'PX', ARGV[4])
local bytes = tonumber(redis.call('GET', K.bytes) or 0)
if redis.call('ZADD', K.bucket, ARGV[3], #ARGV[2] .. ':' .. ARGV[1]) == 1 then
  bytes = bytes + #ARGV[2]
end
local entries = redis.call('ZCARD', K.bucket)
while entries > tonumber(ARGV[5]) or bytes > tonumber(ARGV[6]) do
  local oldest = redis.call('ZPOPMIN', K.bucket)[1]
  local size, id = string.match(oldest, '^(%d+):(.*)$')
  redis.call('UNLINK', ARGV[7] .. id)
  entries, bytes = entries - 1, bytes - tonumber(size)
end
redis.call('SET', K.bytes, bytes, 'PX', ARGV[4])
redis.call('PEXPIRE', K.bucket, ARGV[4])
return 1
