-- Retires a group that is neither pending nor awaiting delivery: releases its arrays, keeps its texts for readers while
-- it is among the run's newest, and keeps its content hash for a while to detect duplicates.
-- keys    run, backlog, retained_texts (list of `BYTES TOKEN ID`, oldest first), all_groups (sorted set),
--         releases: list of the payloads that are released (parts/release-payloads), which the caller stores
-- limits  max_retained_groups, max_retained_bytes: of their texts, duplicate_detection_ms,
--         group_key_prefix: prefix of group keys
-- include ../../../runs/scripts/parts/clock
-- include release-payloads
-- include ../../../../platform/redis/scripts/parts/unreadable
local RETAINED_FIELDS = { GROUP.metadata, GROUP.payload, GROUP.result }
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

local function retire_group(keys, limits, id)
  local key = limits.group_key_prefix .. id
  local group = redis.call('HMGET', key, GROUP.bytes, GROUP.completion_number, GROUP.payload)
  redis.call('HDEL', key, GROUP.awaiting_delivery)
  redis.call('HINCRBY', keys.backlog, BACKLOG.bytes, 0 - (tonumber(group[1]) or 0))
  redis.call('PEXPIRE', key, limits.duplicate_detection_ms)
  list_until_expiry(keys.all_groups, id, limits.duplicate_detection_ms)
  local newest = tonumber(redis.call('HGET', keys.run, RUN.completed) or 0)
  if (tonumber(group[2]) or 0) <= newest - limits.max_retained_groups then
    redis.call('HDEL', key, unpack(RETAINED_FIELDS))
    release_payload(keys.releases, 'all', group[3])
    return
  end
  if not group[3] then
    return
  end
  release_payload(keys.releases, 'arrays', group[3])
  local token, size = string.match(group[3], '^([^:]+):(%d+)')
  if not token then
    set_aside(key, GROUP.payload)
    return
  end
  redis.call('RPUSH', keys.retained_texts, size .. ' ' .. token .. ' ' .. id)
  local total = redis.call('HINCRBY', keys.backlog, BACKLOG.retained_bytes, size)
  while total > limits.max_retained_bytes do
    local oldest = redis.call('LPOP', keys.retained_texts)
    if not oldest then
      return
    end
    local bytes, old_token, old_id = string.match(oldest, '^(%d+) (%S+) (.*)$')
    if bytes then
      redis.call('HDEL', limits.group_key_prefix .. old_id, GROUP.payload)
      release_payload(keys.releases, 'all', old_token)
      total = redis.call('HINCRBY', keys.backlog, BACKLOG.retained_bytes, -tonumber(bytes))
    else
      set_aside(keys.retained_texts, '')
    end
  end
end
