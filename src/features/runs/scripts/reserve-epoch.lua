-- Reserves a run's next epoch, so that its keys can be written before it starts. If it does not start in time, they are
-- removed like those of an epoch that has ended.
-- KEYS  run (hash)  discardedEpochs (sorted set: epoch by the time from which its keys may be removed, ms)
-- ARGV  1 least epoch  2 duration of the reservation, ms
-- Returns the epoch.
-- include parts/clock
-- include parts/next-epoch
local current = tonumber(redis.call('HGET', K.run, RUN.epoch) or 0)
local epoch = next_epoch(math.max(tonumber(ARGV[1]), current + 1), K.discardedEpochs)
redis.call('ZADD', K.discardedEpochs, clock_ms() + tonumber(ARGV[2]), epoch)
return epoch
