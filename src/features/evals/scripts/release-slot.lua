-- Releases a slot, unless it has claimed another sample by now.
-- KEYS  claims (hash: slot to sample)
-- ARGV  1 slot  2 sample
if redis.call('HGET', K.claims, ARGV[1]) == ARGV[2] then
  redis.call('HDEL', K.claims, ARGV[1])
end
