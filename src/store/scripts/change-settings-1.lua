-- Sets a run's named settings, if nobody changed them meanwhile. A run that is not there comes into being.
-- KEYS  1 run (hash)
-- ARGV  1 revision the change was made from, 0: a new run  2 named settings as JSON  3 now, ms  4 a new run's uuid
--       5 '1' to begin the sequence anew
-- Gives the new revision, or 0 if somebody was faster.
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0')
if revision ~= tonumber(ARGV[1]) then
  return 0
end
if revision == 0 then
  redis.call('HSET', KEYS[1], 'epoch', 1, 'position', 0, 'created', ARGV[3], 'uuid', ARGV[4])
elseif ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'position', 0)
end
redis.call('HSET', KEYS[1], 'settings', ARGV[2], 'revision', revision + 1)
return revision + 1
