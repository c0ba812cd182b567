-- Removes a closed group once the run has accepted it. A second call does nothing.
-- KEYS  closedGroups (sorted set: group ID by time)  closedGroup (hash)  openGroupTotals (hash)
-- ARGV  1 group ID
local bytes = redis.call('HGET', K.closedGroup, OPEN.bytes)
redis.call('UNLINK', K.closedGroup) -- first: a full Redis lets a script go on once it has written something that takes no memory
redis.call('ZREM', K.closedGroups, ARGV[1])
if bytes then
  redis.call('HINCRBY', K.openGroupTotals, TOTALS.bytes, -bytes)
end
