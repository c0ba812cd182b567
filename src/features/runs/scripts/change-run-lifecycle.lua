-- Marks a run as finished, archived or active.
-- KEYS  run (hash)
-- ARGV  1 incarnation of the run  2 'finished', 'archived', or '' for active  3 now, ms
-- Returns 1, or 0 if another run has the name now or the run does not exist.
if redis.call('HGET', K.run, RUN.incarnation) ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('HDEL', K.run, RUN.lifecycle, RUN.lifecycle_at)
else
  redis.call('HSET', K.run, RUN.lifecycle, ARGV[2], RUN.lifecycle_at, ARGV[3])
end
return 1
