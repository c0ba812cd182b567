-- Adds a group's record to the next dump file of each kind that it goes to.
-- keys     dumps (hash), pending: { KIND = list of records }
-- request  { kinds: [KIND, …], bytes: of the line, now: ms, max_bytes: limit of the bytes that wait in this run }
-- record   the compressed line
-- Returns for each kind how many records wait now, or 'rejected'.
local function queue_dump_record(keys, request, record)
  local queue_lengths = {}
  for k, kind in ipairs(request.kinds) do
    if tonumber(redis.call('HGET', keys.dumps, DUMPS.bytes) or 0) + request.bytes > request.max_bytes then
      redis.call('HINCRBY', keys.dumps, DUMPS.rejected_groups .. kind, 1)
      queue_lengths[k] = 'rejected'
    else
      queue_lengths[k] = redis.call('RPUSH', keys.pending[kind], record)
      redis.call('HSET', keys.dumps, DUMPS.grown_at .. kind, request.now)
      redis.call('HINCRBY', keys.dumps, DUMPS.bytes, request.bytes)
    end
  end
  return queue_lengths
end
