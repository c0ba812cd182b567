-- Stores an item's entry for a while and removes the bucket's oldest ones. An entry larger than a bucket is not stored.
-- KEYS  bucket (sorted set: `BYTES:ID` of its entries by time)  bytes (their sum)  entry (string)
-- ARGV  1 item ID  2 entry as JSON
--       3 JSON: now, ms  ttl_ms: lifetime  max_entries, max_bytes: limits of the bucket  prefix of entry keys
local bucket = cjson.decode(ARGV[3])
if #ARGV[2] > bucket.max_bytes then
  return 0
end
redis.call('SET', K.entry, ARGV[2], 'PX', bucket.ttl_ms)
local bytes = tonumber(redis.call('GET', K.bytes) or 0)
if redis.call('ZADD', K.bucket, bucket.now, #ARGV[2] .. ':' .. ARGV[1]) == 1 then
  bytes = bytes + #ARGV[2]
end
local entries = redis.call('ZCARD', K.bucket)
while entries > bucket.max_entries or bytes > bucket.max_bytes do
  local oldest = redis.call('ZPOPMIN', K.bucket)[1]
  local size, id = string.match(oldest, '^(%d+):(.*)$')
  if id then
    redis.call('UNLINK', bucket.prefix .. id)
  end
  entries, bytes = entries - 1, math.max(0, bytes - (tonumber(size) or 0))
end
redis.call('SET', K.bytes, bytes, 'PX', bucket.ttl_ms)
redis.call('PEXPIRE', K.bucket, bucket.ttl_ms)
return 1
