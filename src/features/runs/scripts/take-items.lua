-- Hands out a run's items: first those whose lease has run out, then prepared ones in the order of their positions.
-- KEYS  run (hash)  openPositions (sorted set of positions)  positionStates (hash)  itemBodies (hash: position to the item)
--       leaseExpiries (sorted set: position by end of its lease, ms)  leasedItems (hash: position to 'TASK|LABEL')
--       curriculum (hash)  pendingGroups (sorted set)  buffer (sorted set)  backlog (hash)
-- ARGV  1 epoch  2 items wanted  3 now, ms  4 milliseconds for which a position is waited for  5 '1': wait no longer
--       6 positions to keep open  7 milliseconds of a lease  8 most groups ahead, 0: no bound  9 most leases that are
--       remembered
-- Gives { 'epoch' }, or { room, again, prepared, position, what, label … }: how many new items the bound leaves room for,
-- how many of the items come again ('what' is then the task, else the body), prepared items that are left. Nothing but what
-- comes again is handed out while a position that was opened a moment ago is still in the making before the last item wanted.
-- include parts/sequence
if redis.call('HGET', K.run, 'epoch') ~= ARGV[1] then
  return { 'epoch' }
end
local wanted, now = tonumber(ARGV[2]), tonumber(ARGV[3])
local out = {}
local expired = redis.call('ZRANGEBYSCORE', K.leaseExpiries, '-inf', now, 'LIMIT', 0, wanted)
for _, position in ipairs(expired) do
  local task, label = redis.call('HGET', K.leasedItems, position):match('^([^|]*)|(.*)$')
  redis.call('ZADD', K.leaseExpiries, now + tonumber(ARGV[7]), position)
  table.insert(out, position)
  table.insert(out, task)
  table.insert(out, label)
end
local room = wanted - #expired
local most = tonumber(ARGV[8])
if most > 0 then
  local open = redis.call('HGET', K.backlog, 'open_groups') or 0
  local ahead = redis.call('ZCARD', K.leaseExpiries) + redis.call('ZCARD', K.pendingGroups) + redis.call('ZCARD', K.buffer) + tonumber(open)
  room = math.max(0, math.min(room, most - ahead))
end
open_until(K.run, K.openPositions, K.positionStates, tonumber(ARGV[6]), ARGV[3])

local ready = {}
local positions = room > 0 and redis.call('ZRANGE', K.openPositions, 0, room + 255) or {}
for _, position in ipairs(positions) do
  if #ready == room then
    break
  end
  local head = head_of(K.positionStates, position)
  local task, label = placed(head, K.curriculum)
  if task then
    table.insert(ready, { position, task, label })
  else
    if head:sub(1, 1) ~= '-' then -- the curriculum has moved: to be made anew
      head = anew(ARGV[3], head)
      redis.call('HSET', K.positionStates, position, head)
      redis.call('HDEL', K.itemBodies, position)
    end
    if ARGV[5] ~= '1' and tonumber(head:match('^-(%d+)')) + tonumber(ARGV[4]) > now then
      ready = {}
      break
    end
  end
end
if #ready < room and ARGV[5] ~= '1' then
  ready = {}
end
for _, item in ipairs(ready) do
  local position, task, label = unpack(item)
  table.insert(out, position)
  table.insert(out, redis.call('HGET', K.itemBodies, position))
  table.insert(out, label)
  redis.call('ZREM', K.openPositions, position)
  redis.call('HDEL', K.positionStates, position)
  redis.call('HDEL', K.itemBodies, position)
  redis.call('ZADD', K.leaseExpiries, now + tonumber(ARGV[7]), position)
  redis.call('HSET', K.leasedItems, position, task .. '|' .. label)
end
redis.call('HINCRBY', K.run, 'items', #ready)
local over = redis.call('ZCARD', K.leaseExpiries) - tonumber(ARGV[9])
if over > 0 then
  redis.call('HDEL', K.leasedItems, unpack(redis.call('ZPOPMIN', K.leaseExpiries, math.min(over, 1000))))
end
open_until(K.run, K.openPositions, K.positionStates, tonumber(ARGV[6]), ARGV[3])
return { room, #expired, redis.call('HLEN', K.itemBodies), unpack(out) }
