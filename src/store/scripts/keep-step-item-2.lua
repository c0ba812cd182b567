-- Keeps the item that was made for a position of a step; the first one counts.
-- KEYS  1 step (hash)  2 bodies of the step (hash)
-- ARGV  1 position  2 'TASK|LABEL'  3 body  4 milliseconds that bodies are kept
-- Gives 1, or 0 if the item is there already or the step is gone.
local state = redis.call('HGET', KEYS[1], ARGV[1])
if not state or state:sub(1, 1) ~= '-' then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
