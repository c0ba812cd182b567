-- Retires a group that is neither pending nor awaiting delivery: deletes its arrays, keeps its texts for readers while
-- it is among the run's newest, and keeps its content hash for a while to detect duplicates.
-- keys    run, backlog, retained_texts (list of `BYTES ID`, oldest first), all_groups (sorted set)
-- limits  max_retained_groups, max_retained_bytes: of their texts, duplicate_detection_ms,
--         group_key_prefix, texts_key_prefix, arrays_key_prefix: prefixes of the keys of groups
-- include ../../../runs/scripts/parts/clock
-- include ../../../../platform/redis/scripts/parts/unreadable
local RETAINED_FIELDS = { GROUP.metadata, GROUP.result }
-- Number of groups with expired keys to forget at once. More than the one retired group, so that their number shrinks.
local MAX_FORGOTTEN = 100

-- Lists a group until its key expires, and forgets some groups whose keys have expired.
local function list_until_expiry(all_groups, id, ms)
  local now = clock_ms()
  redis.call('ZADD', all_groups, now + ms, id)
  local expired = redis.call('ZRANGEBYSCORE', all_groups, '-inf', now, 'LIMIT', 0, MAX_FORGOTTEN)
  if #expired > 0 then
    redis.call('ZREM', all_groups, unpack(expired))
  end
end

local function delete_payload(limits, id)
  redis.call('UNLINK', limits.texts_key_prefix .. id, limits.arrays_key_prefix .. id)
end

local function retire_group(keys, limits, id)
  local key = limits.group_key_prefix .. id
  local group = redis.call('HMGET', key, GROUP.bytes, GROUP.completion_number)
  redis.call('HDEL', key, GROUP.awaiting_delivery)
  redis.call('HINCRBY', keys.backlog, BACKLOG.bytes, 0 - (tonumber(group[1]) or 0))
  redis.call('PEXPIRE', key, limits.duplicate_detection_ms)
  list_until_expiry(keys.all_groups, id, limits.duplicate_detection_ms)
  local newest = tonumber(redis.call('HGET', keys.run, RUN.completed) or 0)
  if (tonumber(group[2]) or 0) <= newest - limits.max_retained_groups then
    redis.call('HDEL', key, unpack(RETAINED_FIELDS))
    delete_payload(limits, id)
    return
  end
  redis.call('UNLINK', limits.arrays_key_prefix .. id)
  local size = redis.call('STRLEN', limits.texts_key_prefix .. id)
  if size == 0 then -- lost, or retired before
    return
  end
  redis.call('PEXPIRE', limits.texts_key_prefix .. id, limits.duplicate_detection_ms)
  redis.call('RPUSH', keys.retained_texts, size .. ' ' .. id)
  local total = redis.call('HINCRBY', keys.backlog, BACKLOG.retained_bytes, size)
  while total > limits.max_retained_bytes do
    local oldest = redis.call('LPOP', keys.retained_texts)
    if not oldest then
      return
    end
    local bytes, old_id = string.match(oldest, '^(%d+) (.*)$')
    if bytes then
      -- a new group can have the ID of one that has expired
      if redis.call('HEXISTS', limits.group_key_prefix .. old_id, GROUP.awaiting_delivery) == 0 then
        delete_payload(limits, old_id)
      end
      total = redis.call('HINCRBY', keys.backlog, BACKLOG.retained_bytes, 0 - tonumber(bytes))
    else
      set_aside(keys.retained_texts, '')
    end
  end
end
