-- Sets a run's named settings, if nobody changed them meanwhile. A run that is not there comes into being.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  itemBodies (hash)  leaseExpiries (sorted set)
--       leasedItems (hash)  steps (sorted set)  stepItemsPrefix (not a key itself)
-- ARGV  1 revision the change was made from, 0: a new run  2 named settings as JSON  3 now, ms  4 a new run's uuid
--       5 '1' to begin the sequence anew  6 '1' if items that are prepared are to be made anew  7 a new run's name
--       8 epoch that the keys are of
-- Gives the new revision, or 0 if somebody was faster.
-- include ../sequence/scripts/parts/position-state
local revision = tonumber(redis.call('HGET', K.run, 'revision') or '0')
if revision ~= tonumber(ARGV[1]) or (revision > 0 and redis.call('HGET', K.run, 'epoch') ~= ARGV[8]) then
  return 0
end
if revision == 0 then
  redis.call('HSET', K.run, 'epoch', ARGV[8], 'position', 0, 'created', ARGV[3], 'uuid', ARGV[4], 'origin', ARGV[7])
elseif ARGV[5] == '1' then
  redis.call('HSET', K.run, 'position', 0)
  for _, step in ipairs(redis.call('ZRANGE', K.steps, 0, -1)) do
    redis.call('DEL', K.stepItemsPrefix .. step)
  end
  redis.call('DEL', K.openPositions, K.positionStates, K.itemBodies, K.leaseExpiries, K.leasedItems, K.steps)
elseif ARGV[6] == '1' then
  redis.call('DEL', K.itemBodies)
  for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, -1)) do
    set_unmade(K.positionStates, position, ARGV[3])
  end
end
redis.call('HSET', K.run, 'settings', ARGV[2], 'revision', revision + 1)
return revision + 1
