-- Adds a job to the lists that find it: all of its kind, those of its run, and the active ones.
-- KEYS  ofKind: jobs of the kind (sorted set)  ofRun: those of the run (sorted set)  active: active jobs (sorted set)
--       runs: job to its run (hash)
-- ARGV  1 job ID  2 now, ms  3 run, or ''
redis.call('ZADD', K.ofKind, ARGV[2], ARGV[1])
redis.call('ZADD', K.active, ARGV[2], ARGV[1])
if ARGV[3] ~= '' then
  redis.call('ZADD', K.ofRun, ARGV[2], ARGV[1])
  redis.call('HSET', K.runs, ARGV[1], ARGV[3])
end
return 1
