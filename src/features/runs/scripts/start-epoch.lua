-- Starts a reserved epoch of a run, whose other keys are already written. From now on, the keys of the ended epoch are
-- unused and are to be removed. The keys of the reserved epoch are removed if it does not start.
-- KEYS  run (hash)  discardedEpochs (sorted set: epoch by the earliest time of removal, ms)
--       stepStates (sorted set of the epoch that starts: number of a state by step)
-- ARGV  1 epoch that ends, 0: the run does not exist  2 epoch that starts  3 now, ms  4 incarnation of a new run
--       5 … fields of the run and their values
-- Returns 1, or 0 if another call started an epoch first or the reservation has expired.
-- include parts/clock
-- include parts/step-states
local epoch = redis.call('HGET', K.run, RUN.epoch) or '0'
local reserved_until = redis.call('ZSCORE', K.discardedEpochs, ARGV[2])
if not reserved_until or tonumber(reserved_until) <= clock_ms() then
  return 0
end
if epoch ~= ARGV[1] then
  redis.call('ZADD', K.discardedEpochs, clock_ms(), ARGV[2])
  return 0
end
local revision = tonumber(redis.call('HGET', K.run, RUN.revision) or '0')
local incarnation = redis.call('HGET', K.run, RUN.incarnation) or ARGV[4]
local created_at = redis.call('HGET', K.run, RUN.created_at) or ARGV[3]
redis.call('ZREM', K.discardedEpochs, ARGV[2])
redis.call('UNLINK', K.run)
redis.call('HSET', K.run, RUN.epoch, ARGV[2], RUN.revision, revision + 1, RUN.incarnation, incarnation, RUN.created_at, created_at)
for k = 5, #ARGV, 2 do
  redis.call('HSET', K.run, ARGV[k], ARGV[k + 1])
end
local step = redis.call('HGET', K.run, RUN.named_step)
if step then -- a trainer that starts from this state may name the step that it resumes from
  record_state(K.run, K.stepStates, tonumber(step), ARGV[3])
end
if epoch ~= '0' then
  redis.call('ZADD', K.discardedEpochs, clock_ms(), epoch)
end
return 1
