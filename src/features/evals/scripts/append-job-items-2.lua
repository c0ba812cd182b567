-- Puts items on the list of a sampling that takes them as it needs them.
-- KEYS  1 sampling (hash)  2 items (list)
-- ARGV  1 milliseconds that the samples of an ended sampling are kept  2… ids of the items
-- Gives how many there are now; 0 if the sampling is gone: then nothing is kept.
-- include parts/expiry
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local count = redis.call('RPUSH', KEYS[2], unpack(ARGV, 2))
expire_if_late(KEYS[1], KEYS[2], ARGV[1])
return count
