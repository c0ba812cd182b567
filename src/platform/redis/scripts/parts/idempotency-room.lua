-- Included by the scripts of idempotent calls. They drop the oldest records where the limits want it.
-- KEYS  record (hash), callerRecords (sorted set: `BYTES:HASH` of the caller's records by the time of their first call)
--       bytes (hash: caller to the bytes of its records)
-- ARGV  1 hash of the key  2 caller  3 start of the names of records  4 start of the names of callers' lists  5 now, ms
--       6 limit of bytes for a caller  7 limit of bytes in all  8 milliseconds for which a record is protected
local now = tonumber(ARGV[5])

-- Drops the oldest record of a caller if its first call was before the given time; says whether it did.
local function drop_oldest(caller, before)
  local list = ARGV[4] .. caller
  local member, created = unpack(redis.call('ZRANGE', list, 0, 0, 'WITHSCORES'))
  if not member then
    redis.call('HDEL', K.bytes, caller) -- its records and their list have expired
    return true
  end
  if tonumber(created) > before then
    return false
  end
  local size, hash = string.match(member, '^(%d+):(.*)$')
  redis.call('ZREM', list, member)
  redis.call('UNLINK', ARGV[3] .. hash)
  redis.call('HINCRBY', K.bytes, caller, -tonumber(size))
  return true
end

-- The caller whose records take most, and the bytes of all.
local function weigh_callers()
  local sums, most, heaviest, total = redis.call('HGETALL', K.bytes), -1, nil, 0
  for k = 1, #sums, 2 do
    local bytes = tonumber(sums[k + 1])
    total = total + bytes
    if bytes > most then
      most, heaviest = bytes, sums[k]
    end
  end
  return heaviest, total
end

local function bytes_of_caller()
  return tonumber(redis.call('HGET', K.bytes, ARGV[2]) or 0)
end

-- Drops what has expired, and the oldest records while there is no room for so many more bytes. Returns the caller whose
-- records, all protected, leave no room; nil if there is room.
local function make_room(more)
  local left = LIMITS.dropped_at_once
  while left > 0 and bytes_of_caller() > 0 and drop_oldest(ARGV[2], now - LIMITS.record_ttl_ms) do
    left = left - 1
  end
  local unprotected = now - tonumber(ARGV[8])
  while bytes_of_caller() + more > tonumber(ARGV[6]) do
    if left <= 0 or not drop_oldest(ARGV[2], unprotected) then
      return ARGV[2]
    end
    left = left - 1
  end
  local heaviest, total = weigh_callers()
  while total + more > tonumber(ARGV[7]) do
    if left <= 0 or not heaviest or not drop_oldest(heaviest, unprotected) then
      return heaviest or ARGV[2]
    end
    left = left - 1
    heaviest, total = weigh_callers()
  end
  return nil
end

local function add_bytes(more)
  redis.call('HINCRBY', K.bytes, ARGV[2], more)
  redis.call('PEXPIRE', K.bytes, LIMITS.record_ttl_ms)
  redis.call('PEXPIRE', K.callerRecords, LIMITS.record_ttl_ms)
end
