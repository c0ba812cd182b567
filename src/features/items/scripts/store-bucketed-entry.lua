-- Keeps an item's entry for a while; the bucket's oldest give way.
-- KEYS  bucket (sorted set: item id by time)  entry (string)
-- ARGV  1 item id  2 entry as JSON  3 now, ms  4 milliseconds to keep it  5 most entries of the bucket  6 prefix of entry keys
redis.call('SET', K.entry, ARGV[2], 'PX', ARGV[4])
redis.call('ZADD', K.bucket, ARGV[3], ARGV[1])
redis.call('PEXPIRE', K.bucket, ARGV[4])
local over = redis.call('ZCARD', K.bucket) - tonumber(ARGV[5])
if over > 0 then
  for _, old in ipairs(redis.call('ZRANGE', K.bucket, 0, over - 1)) do
    redis.call('DEL', ARGV[6] .. old)
  end
  redis.call('ZREMRANGEBYRANK', K.bucket, 0, over - 1)
end
return 1
