-- KEYS  discardedEpochs (sorted set: epoch by the earliest time of removal, ms)
-- ARGV  1 epoch
-- Returns 1 if the keys of the epoch may be removed now, else 0.
-- include parts/clock
local time = redis.call('ZSCORE', K.discardedEpochs, ARGV[1])
return time and tonumber(time) <= clock_ms() and 1 or 0
