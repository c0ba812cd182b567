-- Removes a run from those that the sweeps visit, unless it was added recently.
-- KEYS  runsToSweep (sorted set: name of a run by the time when it was last added, ms)
-- ARGV  1 name  2 time: a run that was added since stays, ms
local added_at = redis.call('ZSCORE', K.runsToSweep, ARGV[1])
if added_at and tonumber(added_at) < tonumber(ARGV[2]) then
  redis.call('ZREM', K.runsToSweep, ARGV[1])
end
