-- Stores a rescore of a run, unless the run was deleted or restored or the rescore has ended, and deletes the oldest above a limit.
-- KEYS  run (hash)  rescores (hash: ID to JSON)  rescoreIds (list, newest first)
-- ARGV  1 epoch of the run  2 ID  3 JSON  4 limit  5 '1' for a new one: any other that was deleted stays so
-- Returns 1, or 0 if the run or the rescore is gone, or the rescore has ended: its job may run twice.
-- include ../../../platform/redis/scripts/parts/unreadable
local stored = redis.call('HGET', K.rescores, ARGV[2])
local is_open = ARGV[5] == '1' or stored and not ({ done = true, failed = true })[(read_object(stored) or {}).status]
if redis.call('HGET', K.run, RUN.epoch) ~= ARGV[1] or not is_open then
  return 0
end
if redis.call('HSET', K.rescores, ARGV[2], ARGV[3]) == 1 then
  redis.call('LPUSH', K.rescoreIds, ARGV[2])
  for _, id in ipairs(redis.call('LRANGE', K.rescoreIds, ARGV[4], -1)) do
    redis.call('HDEL', K.rescores, id)
  end
  redis.call('LTRIM', K.rescoreIds, 0, ARGV[4] - 1)
end
return 1
