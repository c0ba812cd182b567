-- Keeps the item that was made for a position of a step, unless the run has moved on meanwhile; the first one counts.
-- KEYS  1 run (hash)  2 step (hash)  3 bodies of the step (hash)
-- ARGV  1 position  2 'TASK|LABEL'  3 body  4 milliseconds that bodies are kept
--       5 revision of the settings it was made under
-- Gives 1; 0 if the item is there already, the step is gone, or the settings are others: then it is to be made anew.
local state = redis.call('HGET', KEYS[2], ARGV[1])
if not state or state:sub(1, 1) ~= '-' then
  return 0
end
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[5] then
  redis.call('HSET', KEYS[2], ARGV[1], '-0:0')
  return 0
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return 1
