-- Removes a member of a sorted set whose scores are times, unless it was added again.
-- KEYS  members (sorted set: member by the time when it was last added, ms)
-- ARGV  1 member  2 time: one that was added since stays, ms
local added_at = redis.call('ZSCORE', K.members, ARGV[1])
if added_at and tonumber(added_at) < tonumber(ARGV[2]) then
  redis.call('ZREM', K.members, ARGV[1])
end
