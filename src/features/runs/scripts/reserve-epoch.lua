-- Reserves a run's next epoch, so that its keys can be written before it starts. Otherwise they are removed after a while.
-- KEYS  run (hash)  discardedEpochs (sorted set: epoch by the earliest time of removal, ms)
-- ARGV  1 lowest epoch  2 duration of the reservation, ms
-- Returns the epoch.
-- include parts/clock
-- include parts/next-epoch
local current = tonumber(redis.call('HGET', K.run, RUN.epoch) or 0)
local epoch = next_epoch(math.max(tonumber(ARGV[1]), current + 1), K.discardedEpochs)
redis.call('ZADD', K.discardedEpochs, clock_ms() + tonumber(ARGV[2]), epoch)
return epoch
