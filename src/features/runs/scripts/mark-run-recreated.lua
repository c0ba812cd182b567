-- Records that Redis lost a run of this name and that a call created this one with the default settings.
-- KEYS  run (hash)
-- ARGV  1 incarnation of the run that the process found  2 now, ms
-- Returns { 1 if this call recorded it, else 0; the time recorded, or '' if another run has the name or the run was configured }.
local run = redis.call('HMGET', K.run, RUN.incarnation, RUN.configured_at, RUN.recreated_at)
if run[1] ~= ARGV[1] or run[2] then
  return { 0, '' }
end
if run[3] then
  return { 0, run[3] }
end
redis.call('HSET', K.run, RUN.recreated_at, ARGV[2])
return { 1, ARGV[2] }
