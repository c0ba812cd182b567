-- Keeps the item that was made for an open position, unless the run has moved on meanwhile.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  itemBodies (hash)  curriculum (hash)
-- ARGV  1 epoch  2 revision of the settings it was made under  3 position  4 head  5 body  6 now, ms
-- Gives 1; 0 if the item is not wanted any more, and the position to be made anew where it is still open.
-- include parts/sequence
if redis.call('HGET', K.run, 'epoch') ~= ARGV[1] or not redis.call('ZSCORE', K.openPositions, ARGV[3]) then
  return 0
end
local meant = redis.call('HGET', K.run, 'revision') == ARGV[2]
if not meant or not placed(ARGV[4], K.curriculum) then
  if head_of(K.positionStates, ARGV[3]):sub(1, 1) == '-' then
    redis.call('HSET', K.positionStates, ARGV[3], anew(ARGV[6], meant and ARGV[4] or ''))
  end
  return 0
end
redis.call('HSET', K.positionStates, ARGV[3], ARGV[4])
redis.call('HSET', K.itemBodies, ARGV[3], ARGV[5])
return 1
