-- Hands out a run's items: first those whose lease has expired, then made ones in the order of their positions.
-- KEYS  see parts/sequence.lua; also
--       leaseExpiries (sorted set: position by the end of its lease, ms), leasedItems (hash: position to its made state)
--       takenItems (list of position, task, difficulty, retry and propensity: what the call was given)
--       pendingGroups, buffer, backlog
-- ARGV  1 JSON:
--         epoch, revision of the settings (both as text)  count: limit of items  now, ms  is_final: take the items that are there, do not wait for new
--         positions  to_open: positions to keep open  lease_ms  max_ahead: limit of groups ahead, 0: none
--         is_recorded: record what is taken, so that the call can be repeated
--         received: how many of those recorded the caller has received
--         prefetch_target: positions that the run is to keep open from now on, if it keeps fewer
-- Returns { 'run_changed' } if the epoch or revision is different, or { capacity, taken, reissued, prefetched, missing, patience, position, what, difficulty,
-- retry, propensity … }:
--   missing: unmade positions to wait for, comma-separated, if the call gets no new items  patience: how long at most, ms
--   capacity: new items that the limit allows  taken: items that come first because the call took them before
--   reissued: how many after those are issued again  prefetched: made items that are left
--   what: the task of a taken or reissued item, else the body  difficulty: begins with '~' if taken and issued again
-- While a new position before the last requested item is still unmade, the call gets all of its new items or none.
-- include parts/sequence
local call = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.prefetch_target, RUN.items_held_since)
if run[1] ~= call.epoch or run[2] ~= call.revision then
  return { 'run_changed' }
end
if tonumber(run[3] or 0) < call.prefetch_target then
  redis.call('HSET', K.run, RUN.prefetch_target, call.prefetch_target)
end
local wanted, now = call.count, call.now
local lease_end = now + call.lease_ms
local reply, records = {}, {}

-- Appends the numbers of an item: `what` is its task, or its body.
local function append(list, position, what, difficulty, item)
  table.insert(list, position)
  table.insert(list, what)
  table.insert(list, difficulty)
  table.insert(list, item.retry or 0)
  table.insert(list, string.format('%.6g', item.propensity or 0))
end

local taken = {}
if call.is_recorded then
  taken = redis.call('LRANGE', K.takenItems, 5 * call.received, 5 * (call.received + wanted) - 1)
  wanted = wanted - #taken / 5
end
for _, text in ipairs(taken) do
  table.insert(reply, text)
end

local expired = redis.call('ZRANGEBYSCORE', K.leaseExpiries, '-inf', now, 'LIMIT', 0, wanted)
local reissued = 0
for _, position in ipairs(expired) do
  local item = get_state(K.leasedItems, position)
  if item and is_made(item) then
    redis.call('ZADD', K.leaseExpiries, lease_end, position)
    append(reply, position, item.task, item.difficulty or '', item)
    append(records, position, item.task, '~' .. (item.difficulty or ''), item)
    reissued = reissued + 1
  else -- which item it was is unknown: its lease ends
    redis.call('ZREM', K.leaseExpiries, position)
    redis.call('HDEL', K.leasedItems, position)
    if not item then
      set_aside(K.leasedItems, position)
    end
  end
end

local capacity = wanted - reissued
if call.max_ahead > 0 then
  local ahead = redis.call('ZCARD', K.leaseExpiries) + redis.call('ZCARD', K.pendingGroups)
    + redis.call('ZCARD', K.buffer) + tonumber(redis.call('HGET', K.backlog, BACKLOG.open_batch_groups) or 0)
  capacity = math.max(0, math.min(capacity, call.max_ahead - ahead))
end
local held_since = tonumber(run[4] or 0)
if capacity == 0 and wanted > reissued and held_since == 0 then
  redis.call('HSET', K.run, RUN.items_held_since, now)
elseif capacity > 0 and held_since > 0 then
  redis.call('HSET', K.run, RUN.items_held_since, 0)
  redis.call('HINCRBY', K.run, RUN.items_held_ms, math.max(0, now - held_since))
end
open_positions(call.to_open, now)

local ready, missing, patience = {}, {}, 0
local candidates = capacity > 0 and redis.call('ZRANGE', K.openPositions, 0, capacity + 255) or {}
for _, position in ipairs(candidates) do
  if #ready + #missing == capacity then
    break
  end
  local state = get_state(K.positionStates, position)
  local body = redis.call('HGET', K.itemBodies, position)
  local is_whole = body and string.sub(body, 1, 1) == '{' and string.sub(body, -1) == '}'
  local difficulty = state and is_whole and current_difficulty(state)
  if difficulty then
    state.difficulty = difficulty
    table.insert(ready, { position, state, body })
  else
    local opened = state and state.opened
    if body and not is_whole then
      set_aside(K.itemBodies, position)
    end
    if not opened then -- the curriculum has left its rung, or a part of the position is lost
      opened = now
      set_unmade(K.positionStates, position, now, state)
      redis.call('HDEL', K.itemBodies, position)
    end
    local wait = opened + LIMITS.new_position_wait_ms - now
    if not call.is_final and wait > 0 then
      table.insert(missing, position)
      patience = patience == 0 and wait or math.min(patience, wait)
    end
  end
end
if #ready < capacity and not call.is_final then
  ready = {}
end
local issued = {}
for _, item in ipairs(ready) do
  local position, state, body = unpack(item)
  append(reply, position, body, state.difficulty, state)
  close_position(position)
  state.position = position
  table.insert(issued, state)
  redis.call('ZADD', K.leaseExpiries, lease_end, position)
  set_made(K.leasedItems, position, state)
  append(records, position, state.task, state.difficulty, state)
end
put_issued(issued)
if call.is_recorded and #records > 0 then
  redis.call('RPUSH', K.takenItems, unpack(records))
  redis.call('PEXPIRE', K.takenItems, LIMITS.taken_items_ms)
end
redis.call('HINCRBY', K.run, RUN.items, #ready)

local excess = redis.call('ZCARD', K.leaseExpiries) - LIMITS.leases
if excess > 0 then
  redis.call('HDEL', K.leasedItems, unpack(redis.call('ZPOPMIN', K.leaseExpiries, math.min(excess, 1000))))
end
open_positions(call.to_open, now)
local prefetched = redis.call('HLEN', K.itemBodies)
return { capacity, #taken / 5, reissued, prefetched, table.concat(missing, ','), patience, unpack(reply) }
