-- Keeps a group's record for the next dump file of each kind that it goes to.
-- keys    dumps (hash), waiting: { KIND = list of records }
-- asked   { kinds: [KIND, …], bytes: of the line, now: ms, most: bytes that may wait in this run }
-- record  the line, compressed
-- Gives for each kind how many records wait now, or 'refused'.
local function dump(keys, asked, record)
  local kept = {}
  for k, kind in ipairs(asked.kinds) do
    if tonumber(redis.call('HGET', keys.dumps, 'bytes') or 0) + asked.bytes > asked.most then
      redis.call('HINCRBY', keys.dumps, kind .. ':refused', 1)
      kept[k] = 'refused'
    else
      kept[k] = redis.call('RPUSH', keys.waiting[kind], record)
      redis.call('HSET', keys.dumps, kind .. ':grown', asked.now)
      redis.call('HINCRBY', keys.dumps, 'bytes', asked.bytes)
    end
  end
  return kept
end
