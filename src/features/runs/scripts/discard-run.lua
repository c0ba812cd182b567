-- Deletes a run: the name is free from now on, and the keys of the run's epoch are to be removed.
-- KEYS  run (hash)  discardedEpochs (sorted set: epoch by the earliest time of removal, ms)
-- ARGV  1 incarnation of the run
-- Returns its epoch, or nil if it was deleted before. A later run of the same name is kept.
-- include parts/clock
local run = redis.call('HMGET', K.run, RUN.incarnation, RUN.epoch)
if run[1] ~= ARGV[1] then
  return nil
end
-- must come first: once a script has written without using memory, a full Redis lets it finish
redis.call('UNLINK', K.run)
redis.call('ZADD', K.discardedEpochs, clock_ms(), run[2])
return run[2]
