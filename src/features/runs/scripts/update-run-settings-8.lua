-- Sets a run's named settings, if nobody changed them meanwhile. A run that is not there comes into being.
-- KEYS  1 run (hash)  2 open (sorted set)  3 heads (hash)  4 bodies (hash)  5 leases (sorted set)  6 leased (hash)
--       7 steps (sorted set)  8 prefix of the keys of one step (not a key itself)
-- ARGV  1 revision the change was made from, 0: a new run  2 named settings as JSON  3 now, ms  4 a new run's uuid
--       5 '1' to begin the sequence anew  6 '1' if items that are prepared are to be made anew  7 a new run's name
--       8 epoch that the keys are of
-- Gives the new revision, or 0 if somebody was faster.
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0')
if revision ~= tonumber(ARGV[1]) or (revision > 0 and redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[8]) then
  return 0
end
if revision == 0 then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[8], 'position', 0, 'created', ARGV[3], 'uuid', ARGV[4], 'origin', ARGV[7])
elseif ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'position', 0)
  for _, step in ipairs(redis.call('ZRANGE', KEYS[7], 0, -1)) do
    redis.call('DEL', KEYS[8] .. step)
  end
  redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
elseif ARGV[6] == '1' then
  redis.call('DEL', KEYS[4])
  for _, position in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    redis.call('HSET', KEYS[3], position, '-' .. ARGV[3] .. ':0:0:')
  end
end
redis.call('HSET', KEYS[1], 'settings', ARGV[2], 'revision', revision + 1)
return revision + 1
