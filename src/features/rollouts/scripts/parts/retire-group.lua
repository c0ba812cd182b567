-- What becomes of a group when nobody waits for it any more: its arrays go, its texts stay for those who look while they
-- are among the run's newest, and that it was seen is remembered for a while.
-- keys  run, stock, texts (list of `BYTES ID`, oldest first)
-- ask   keep: most groups that are kept  keep_bytes: most bytes of their texts  remembered: milliseconds
--       group_prefix: what group keys begin with
local KEPT = { 'about', 'texts', 'result' }

local function settle(keys, ask, id)
  local key = ask.group_prefix .. id
  local group = redis.call('HMGET', key, 'bytes', 'seq')
  redis.call('HDEL', key, 'arrays', 'waits')
  redis.call('HINCRBY', keys.stock, 'bytes', -tonumber(group[1] or 0))
  redis.call('PEXPIRE', key, ask.remembered)
  local newest = tonumber(redis.call('HGET', keys.run, 'completed') or 0)
  if tonumber(group[2] or 0) <= newest - ask.keep then
    redis.call('HDEL', key, unpack(KEPT))
    return
  end
  local size = redis.call('HSTRLEN', key, 'texts')
  redis.call('RPUSH', keys.texts, size .. ' ' .. id)
  local total = redis.call('HINCRBY', keys.stock, 'kept_bytes', size)
  while total > ask.keep_bytes do
    local oldest = redis.call('LPOP', keys.texts)
    if not oldest then
      return
    end
    local bytes, old = string.match(oldest, '^(%d+) (.*)$')
    redis.call('HDEL', ask.group_prefix .. old, 'texts')
    total = redis.call('HINCRBY', keys.stock, 'kept_bytes', -tonumber(bytes))
  end
end
