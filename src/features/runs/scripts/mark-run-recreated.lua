-- Notes that Redis lost a run of this name and that a call began this one, with the default settings.
-- KEYS  run (hash)
-- ARGV  1 UUID of the run that was met  2 now, ms
-- Returns { 1 if this call noted it, else 0; the time noted, or '' where the run is another, or was configured meanwhile }.
local run = redis.call('HMGET', K.run, RUN.uuid, RUN.configured_at, RUN.recreated_at)
if run[1] ~= ARGV[1] or run[2] then
  return { 0, '' }
end
if run[3] then
  return { 0, run[3] }
end
redis.call('HSET', K.run, RUN.recreated_at, ARGV[2])
return { 1, ARGV[2] }
