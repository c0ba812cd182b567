-- Fixes the groups of a dump file: moves them from those that wait to a list under the file's number.
-- KEYS  1 state (hash)  2 unwritten files (hash: kind/number to JSON)  3 waiting (list of records)
-- ARGV  1 kind  2 groups of a full file  3 a partial file too if nothing grew since this time, ms  4 now, ms
--       5 prefix of the lists of files
-- Gives the file's number, or nil if no file is due.
local count = redis.call('LLEN', KEYS[3])
local size = tonumber(ARGV[2])
if count == 0 then
  return nil
end
if count < size and tonumber(redis.call('HGET', KEYS[1], ARGV[1] .. ':grown')) > tonumber(ARGV[3]) then
  return nil
end
local number = redis.call('HINCRBY', KEYS[1], ARGV[1] .. ':files', 1) - 1
local file = ARGV[5] .. number
if count <= size then
  redis.call('RENAME', KEYS[3], file)
else
  count = size
  for _ = 1, size do
    redis.call('LMOVE', KEYS[3], file, 'LEFT', 'RIGHT')
  end
end
redis.call('HSET', KEYS[2], ARGV[1] .. '/' .. number, cjson.encode({ groups = count, at = tonumber(ARGV[4]) }))
return number
