-- Fixes the groups of a dump file: moves them from the waiting records to a list under the file's number.
-- KEYS  state (hash)  unwrittenFiles (hash: kind/number to JSON)  pendingRecords (list of records)
-- ARGV  1 kind  2 groups of a full file  3 time in ms: a partial file is due, too, if it has not grown since  4 now, ms
--       5 prefix of the lists of files
-- Returns the file's number, or nil if no file is due.
local count = redis.call('LLEN', K.pendingRecords)
local size = tonumber(ARGV[2])
if count == 0 then
  return nil
end
if count < size and tonumber(redis.call('HGET', K.state, DUMPS.grown_at .. ARGV[1])) > tonumber(ARGV[3]) then
  return nil
end
local number = redis.call('HINCRBY', K.state, DUMPS.files .. ARGV[1], 1) - 1
local file = ARGV[5] .. number
if count <= size then
  redis.call('RENAME', K.pendingRecords, file)
else
  count = size
  for _ = 1, size do
    redis.call('LMOVE', K.pendingRecords, file, 'LEFT', 'RIGHT')
  end
end
local json = cjson.encode({ [FILE.groups] = count, [FILE.frozen_at] = tonumber(ARGV[4]) })
redis.call('HSET', K.unwrittenFiles, ARGV[1] .. '/' .. number, json)
return number
