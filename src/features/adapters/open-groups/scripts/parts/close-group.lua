-- Closes an open group: its first samples become a closed group with a permanent ID; the others begin the item's next group.
-- keys  open_groups, closed_groups, totals, counted_rollouts, open_group_prefix, closed_group_prefix
-- size  number of counted samples that the closed group takes
-- Returns the ID.
local function close_group(keys, item, size, for_buffer, now)
  local open = keys.open_group_prefix .. item
  local id = 'open-' .. item .. '-' .. redis.call('HINCRBY', keys.totals, TOTALS.closed, 1)
  local closed = keys.closed_group_prefix .. id
  redis.call('RENAME', open, closed) -- however large it is, what it keeps is not copied
  local stored = redis.call('HMGET', closed, OPEN.item_id, OPEN.order, OPEN.pending, OPEN.bytes)
  local taken, left = {}, {}
  for k, sample in ipairs(words(stored[2])) do
    table.insert(k <= size and taken or left, sample)
  end
  local pending = tonumber(stored[3] or 0)
  local moved_bytes = 0
  local function move(field)
    local value = redis.call('HGET', closed, field)
    redis.call('HSET', open, field, value)
    redis.call('HDEL', closed, field)
    return #value
  end
  for _, sample in ipairs(left) do
    moved_bytes = moved_bytes + move(OPEN.texts_prefix .. sample)
  end
  if pending > 0 then
    for _, field in ipairs(redis.call('HKEYS', closed)) do
      if string.sub(field, 1, #OPEN.pending_prefix) == OPEN.pending_prefix then
        moved_bytes = moved_bytes + move(OPEN.texts_prefix .. string.sub(field, #OPEN.pending_prefix + 1))
        move(field)
      elseif string.sub(field, 1, #OPEN.unmatched_prefix) == OPEN.unmatched_prefix then
        move(field)
      end
    end
  end
  if #left + pending > 0 then
    redis.call('HSET', open, OPEN.item_id, stored[1], OPEN.pending, pending, OPEN.bytes, moved_bytes, OPEN.counted, #left)
    set_words(open, OPEN.order, left)
  else
    redis.call('ZREM', keys.open_groups, item)
  end
  redis.call('HDEL', closed, OPEN.pending, OPEN.counted)
  redis.call('HSET', closed, OPEN.order, table.concat(taken, ' '), OPEN.bytes, tonumber(stored[4]) - moved_bytes,
    OPEN.for_buffer, for_buffer and 1 or 0, OPEN.closed_at, now)
  redis.call('ZADD', keys.closed_groups, now, id)
  for _, sample in ipairs(taken) do
    if string.sub(sample, 1, 4) == 'key.' then
      redis.call('ZADD', keys.counted_rollouts, now, sample)
    end
  end
  return id
end
