-- Deletes a run: from now on there is none of its name, and the keys of its epoch are to be removed.
-- KEYS  run (hash)  discardedEpochs (sorted set: epoch by the time from which its keys may be removed, ms)
-- ARGV  1 UUID of the run
-- Returns its epoch, or nil if it was deleted before. A later run of its name stays.
-- include parts/clock
local run = redis.call('HMGET', K.run, RUN.uuid, RUN.epoch)
if run[1] ~= ARGV[1] then
  return nil
end
redis.call('UNLINK', K.run) -- first: a full Redis lets a script go on once it has written something that takes no memory
redis.call('ZADD', K.discardedEpochs, clock_ms(), run[2])
return run[2]
