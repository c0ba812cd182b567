-- Starts a run's next epoch, whose other keys are written already. From now on the keys of the previous epoch are unused.
-- KEYS  run (hash)
-- ARGV  1 epoch that ends, 0: the run does not exist  2 epoch that starts  3 now, ms  4 UUID for a new run
--       5 … fields of the run and their values
-- Returns 1, or 0 if another call was faster.
local epoch = redis.call('HGET', K.run, RUN.epoch) or '0'
if epoch ~= ARGV[1] then
  return 0
end
local revision = tonumber(redis.call('HGET', K.run, RUN.revision) or '0')
local uuid = redis.call('HGET', K.run, RUN.uuid) or ARGV[4]
local created_at = redis.call('HGET', K.run, RUN.created_at) or ARGV[3]
redis.call('DEL', K.run)
redis.call('HSET', K.run, RUN.epoch, ARGV[2], RUN.revision, revision + 1, RUN.uuid, uuid, RUN.created_at, created_at)
for k = 5, #ARGV, 2 do
  redis.call('HSET', K.run, ARGV[k], ARGV[k + 1])
end
return 1
