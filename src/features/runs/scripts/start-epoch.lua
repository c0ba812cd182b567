-- Begins a run's next epoch, whose other keys are written already: from now on nobody sees those of the epoch before.
-- KEYS  run (hash)
-- ARGV  1 epoch that is left, 0: there is no such run  2 epoch that begins  3 now, ms  4 a new run's uuid
--       5 … fields of the run and their values
-- Gives 1, or 0 if somebody was faster.
local epoch = redis.call('HGET', K.run, 'epoch') or '0'
if epoch ~= ARGV[1] then
  return 0
end
local revision = tonumber(redis.call('HGET', K.run, 'revision') or '0')
local uuid = redis.call('HGET', K.run, 'uuid') or ARGV[4]
local created = redis.call('HGET', K.run, 'created') or ARGV[3]
redis.call('DEL', K.run)
redis.call('HSET', K.run, 'epoch', ARGV[2], 'revision', revision + 1, 'uuid', uuid, 'created', created)
for k = 5, #ARGV, 2 do
  redis.call('HSET', K.run, ARGV[k], ARGV[k + 1])
end
return 1
