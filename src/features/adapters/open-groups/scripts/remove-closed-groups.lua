-- Removes closed groups once the run has accepted them. A second call does nothing.
-- KEYS  closedGroups (sorted set: group ID by time)  openGroupTotals (hash)
-- ARGV  1 prefix of the keys of closed groups (hashes)  2 and on: group IDs
local freed = 0
for k = 2, #ARGV do
  local group = ARGV[1] .. ARGV[k]
  freed = freed + (tonumber(redis.call('HGET', group, OPEN.bytes) or 0) or 0)
  redis.call('UNLINK', group) -- first: a full Redis lets a script go on once it has written something that takes no memory
  redis.call('ZREM', K.closedGroups, ARGV[k])
end
if freed > 0 then
  redis.call('HINCRBY', K.openGroupTotals, TOTALS.bytes, 0 - freed)
end
