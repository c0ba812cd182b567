-- Seals a dump file, which rotates the dumps: moves the groups of a full or idle file from the waiting records to a list
-- under the file's number. Later groups go to the next file.
-- KEYS  state (hash)  unwrittenFiles (hash: kind/number to JSON)  pendingRecords (list of records)
-- ARGV  1 JSON: { kind, groups_per_file, idle_since: time in ms; a partial file is due, too, if it has not grown since,
--                 now (ms), file_prefix: of the lists of files }
-- Returns the file's number, or nil if no file is due.
local params = cjson.decode(ARGV[1])
local kind, size = params.kind, params.groups_per_file
local count = redis.call('LLEN', K.pendingRecords)
if count == 0 then
  return nil
end
if count < size and (tonumber(redis.call('HGET', K.state, DUMPS.grown_at .. kind)) or 0) > params.idle_since then
  return nil
end
local number = redis.call('HINCRBY', K.state, DUMPS.files .. kind, 1) - 1
local file = params.file_prefix .. number
if count <= size then
  redis.call('RENAME', K.pendingRecords, file)
else
  count = size
  for _ = 1, size do
    redis.call('LMOVE', K.pendingRecords, file, 'LEFT', 'RIGHT')
  end
end
local json = cjson.encode({ [UNWRITTEN.groups] = count, [UNWRITTEN.sealed_at] = params.now })
redis.call('HSET', K.unwrittenFiles, kind .. '/' .. number, json)
return number
