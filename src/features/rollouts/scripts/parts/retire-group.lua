-- Retires a group that nothing waits for any more: its arrays are deleted; its texts are kept for readers while it is among
-- the run's newest; its content hash is kept for a while, to detect duplicates.
-- keys    run, backlog, retained_texts (list of `BYTES ID`, oldest first)
-- limits  max_retained_groups, max_retained_bytes: of their texts, duplicate_detection_ms,
--         group_key_prefix: what group keys begin with
local RETAINED_FIELDS = { GROUP.metadata, GROUP.texts, GROUP.result }

local function retire_group(keys, limits, id)
  local key = limits.group_key_prefix .. id
  local group = redis.call('HMGET', key, GROUP.bytes, GROUP.completion_number)
  redis.call('HDEL', key, GROUP.arrays, GROUP.awaiting_delivery)
  redis.call('HINCRBY', keys.backlog, BACKLOG.bytes, -tonumber(group[1] or 0))
  redis.call('PEXPIRE', key, limits.duplicate_detection_ms)
  local newest = tonumber(redis.call('HGET', keys.run, RUN.completed) or 0)
  if tonumber(group[2] or 0) <= newest - limits.max_retained_groups then
    redis.call('HDEL', key, unpack(RETAINED_FIELDS))
    return
  end
  local size = redis.call('HSTRLEN', key, GROUP.texts)
  redis.call('RPUSH', keys.retained_texts, size .. ' ' .. id)
  local total = redis.call('HINCRBY', keys.backlog, BACKLOG.retained_bytes, size)
  while total > limits.max_retained_bytes do
    local oldest = redis.call('LPOP', keys.retained_texts)
    if not oldest then
      return
    end
    local bytes, old_id = string.match(oldest, '^(%d+) (.*)$')
    redis.call('HDEL', limits.group_key_prefix .. old_id, GROUP.texts)
    total = redis.call('HINCRBY', keys.backlog, BACKLOG.retained_bytes, -tonumber(bytes))
  end
end
