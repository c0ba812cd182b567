-- Completes a group: verdicts, buffer, counters and notice in one step, once; a second delivery finds it done.
-- KEYS  1 run (hash)  2 group (hash)  3 pending (sorted set)  4 buffer (sorted set: group id by order of completion)
--       5 recent (list of group ids, newest first)  6 tasks (hash of sums per task)
-- ARGV  1 group id  2 result as JSON  3 status  4 destination or ''  5 milliseconds that a done group is remembered
--       6 most groups that are kept  7 channel  8 message  9 prefix of group keys
--       10 number of run counters, then name and amount of each; after these, fields and amounts of the task's sums
-- Gives 1, or 0 if the group was done already or is gone.
if redis.call('HGET', KEYS[2], 'status') ~= 'queued' then
  return 0
end
redis.call('HSET', KEYS[2], 'status', ARGV[3], 'result', ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[1])
if ARGV[4] == 'buffered' then
  redis.call('ZADD', KEYS[4], redis.call('HINCRBY', KEYS[1], 'completed', 1), ARGV[1])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
local at = 11
for _ = 1, tonumber(ARGV[10]) do
  redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1])
  at = at + 2
end
while ARGV[at] do
  redis.call('HINCRBYFLOAT', KEYS[6], ARGV[at], ARGV[at + 1])
  at = at + 2
end
-- What is no longer kept is forgotten but for its content's hash, which tells a repeated post from a new one.
redis.call('LPUSH', KEYS[5], ARGV[1])
if redis.call('LLEN', KEYS[5]) > tonumber(ARGV[6]) then
  local old = redis.call('RPOP', KEYS[5])
  if not redis.call('ZSCORE', KEYS[4], old) then
    redis.call('HDEL', ARGV[9] .. old, 'input', 'result')
  end
end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1
