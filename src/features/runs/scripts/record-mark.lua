-- Adds a mark to a run, unless the run was deleted or restored, and drops the oldest above a limit.
-- KEYS  run (hash)  marks (list of JSON, oldest first)
-- ARGV  1 epoch of the run  2 JSON  3 limit
if redis.call('HGET', K.run, RUN.epoch) == ARGV[1] then
  redis.call('RPUSH', K.marks, ARGV[2])
  redis.call('LTRIM', K.marks, 0 - ARGV[3], -1)
end
