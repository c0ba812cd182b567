-- Puts items on the list of a sampling that takes them as it needs them.
-- KEYS  job (hash)  items (list)
-- ARGV  1 milliseconds that the samples of an ended sampling are kept  2… ids of the items
-- Gives how many there are now; 0 if the sampling is gone: then nothing is kept.
-- include parts/expiry
if redis.call('EXISTS', K.job) == 0 then
  return 0
end
local count = redis.call('RPUSH', K.items, unpack(ARGV, 2))
expire_if_late(K.job, K.items, ARGV[1])
return count
