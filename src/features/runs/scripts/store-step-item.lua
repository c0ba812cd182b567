-- Keeps the item that was made for a position of a step, unless the run has moved on meanwhile; the first one counts.
-- KEYS  run (hash)  stepItems (hash)  stepItemBodies (hash)
-- ARGV  1 position  2 'TASK|LABEL'  3 body  4 milliseconds that bodies are kept
--       5 revision of the settings it was made under
-- Gives 1; 0 if the item is there already, the step is gone, or the settings are others: then it is to be made anew.
local state = redis.call('HGET', K.stepItems, ARGV[1])
if not state or state:sub(1, 1) ~= '-' then
  return 0
end
if redis.call('HGET', K.run, 'revision') ~= ARGV[5] then
  redis.call('HSET', K.stepItems, ARGV[1], '-0:0')
  return 0
end
redis.call('HSET', K.stepItems, ARGV[1], ARGV[2])
redis.call('HSET', K.stepItemBodies, ARGV[1], ARGV[3])
redis.call('PEXPIRE', K.stepItemBodies, ARGV[4])
return 1
