-- Included by the scripts of idempotent calls. They drop the oldest records where the limits want it.
-- KEYS  record (hash), callerRecords (sorted set: `BYTES:HASH` of the caller's records by the time of their first call)
--       bytes (sorted set: caller by the bytes of its records, and '' by those of all)
-- ARGV  1 hash of the key  2 caller  3 start of the names of records  4 start of the names of callers' lists  5 now, ms
--       6 limit of bytes for a caller  7 limit of bytes in all  8 milliseconds for which a record is protected
local now = tonumber(ARGV[5])

local ALL = ''

local function bytes_of(caller)
  return tonumber(redis.call('ZSCORE', K.bytes, caller) or 0)
end

-- A caller without records is not listed, so that the list is no longer than what is kept.
local function add_bytes_of(caller, more)
  redis.call('ZINCRBY', K.bytes, more, ALL)
  if tonumber(redis.call('ZINCRBY', K.bytes, more, caller)) <= 0 then
    redis.call('ZREM', K.bytes, caller)
  end
end

-- Drops the oldest record of a caller if its first call was before the given time; says whether it did.
local function drop_oldest(caller, before)
  local list = ARGV[4] .. caller
  local member, created = unpack(redis.call('ZRANGE', list, 0, 0, 'WITHSCORES'))
  if not member then
    add_bytes_of(caller, -bytes_of(caller)) -- its records and their list have expired
    return true
  end
  if tonumber(created) > before then
    return false
  end
  local size, hash = string.match(member, '^(%d+):(.*)$')
  redis.call('ZREM', list, member)
  if hash then
    redis.call('UNLINK', ARGV[3] .. hash)
  end
  add_bytes_of(caller, -(tonumber(size) or 0))
  return true
end

-- The caller whose records take most; nil if there are none.
local function heaviest_caller()
  local most = redis.call('ZRANGE', K.bytes, 0, 1, 'REV')
  return most[1] ~= ALL and most[1] or most[2]
end

-- Drops what has expired, and the oldest records while there is no room for so many more bytes. Returns the caller whose
-- records, all protected, leave no room; nil if there is room.
local function make_room(more)
  local left = LIMITS.dropped_at_once
  while left > 0 and bytes_of(ARGV[2]) > 0 and drop_oldest(ARGV[2], now - LIMITS.record_ttl_ms) do
    left = left - 1
  end
  local unprotected = now - tonumber(ARGV[8])
  while bytes_of(ARGV[2]) + more > tonumber(ARGV[6]) do
    if left <= 0 or not drop_oldest(ARGV[2], unprotected) then
      return ARGV[2]
    end
    left = left - 1
  end
  while bytes_of(ALL) + more > tonumber(ARGV[7]) do
    local heaviest = heaviest_caller()
    if left <= 0 or not heaviest or not drop_oldest(heaviest, unprotected) then
      return heaviest or ARGV[2]
    end
    left = left - 1
  end
  return nil
end

local function add_bytes(more)
  add_bytes_of(ARGV[2], more)
  redis.call('PEXPIRE', K.bytes, LIMITS.record_ttl_ms)
  redis.call('PEXPIRE', K.callerRecords, LIMITS.record_ttl_ms)
end
