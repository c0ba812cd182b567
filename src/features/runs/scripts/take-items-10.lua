-- Hands out a run's items: first those whose lease has run out, then prepared ones in the order of their positions.
-- KEYS  1 run (hash)  2 open (sorted set of positions)  3 heads (hash)  4 bodies (hash: position to the item)
--       5 leases (sorted set: position by end of its lease, ms)  6 leased (hash: position to 'TASK|LABEL')
--       7 curriculum (hash)  8 pending (sorted set)  9 buffer (sorted set)  10 stock (hash)
-- ARGV  1 epoch  2 items wanted  3 now, ms  4 milliseconds for which a position is waited for  5 '1': wait no longer
--       6 positions to keep open  7 milliseconds of a lease  8 most groups ahead, 0: no bound  9 most leases that are
--       remembered
-- Gives { 'epoch' }, or { room, again, prepared, position, what, label … }: how many new items the bound leaves room for,
-- how many of the items come again ('what' is then the task, else the body), prepared items that are left. Nothing but what
-- comes again is handed out while a position that was opened a moment ago is still in the making before the last item wanted.
-- include parts/sequence
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return { 'epoch' }
end
local wanted, now = tonumber(ARGV[2]), tonumber(ARGV[3])
local out = {}
local expired = redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', now, 'LIMIT', 0, wanted)
for _, position in ipairs(expired) do
  local task, label = redis.call('HGET', KEYS[6], position):match('^([^|]*)|(.*)$')
  redis.call('ZADD', KEYS[5], now + tonumber(ARGV[7]), position)
  table.insert(out, position)
  table.insert(out, task)
  table.insert(out, label)
end
local room = wanted - #expired
local most = tonumber(ARGV[8])
if most > 0 then
  local open = redis.call('HGET', KEYS[10], 'open_groups') or 0
  local ahead = redis.call('ZCARD', KEYS[5]) + redis.call('ZCARD', KEYS[8]) + redis.call('ZCARD', KEYS[9]) + tonumber(open)
  room = math.max(0, math.min(room, most - ahead))
end
open_until(KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[6]), ARGV[3])

local ready = {}
local positions = room > 0 and redis.call('ZRANGE', KEYS[2], 0, room + 255) or {}
for _, position in ipairs(positions) do
  if #ready == room then
    break
  end
  local head = head_of(KEYS[3], position)
  local task, label = placed(head, KEYS[7])
  if task then
    table.insert(ready, { position, task, label })
  else
    if head:sub(1, 1) ~= '-' then -- the curriculum has moved: to be made anew
      head = anew(ARGV[3], head)
      redis.call('HSET', KEYS[3], position, head)
      redis.call('HDEL', KEYS[4], position)
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
  table.insert(out, redis.call('HGET', KEYS[4], position))
  table.insert(out, label)
  redis.call('ZREM', KEYS[2], position)
  redis.call('HDEL', KEYS[3], position)
  redis.call('HDEL', KEYS[4], position)
  redis.call('ZADD', KEYS[5], now + tonumber(ARGV[7]), position)
  redis.call('HSET', KEYS[6], position, task .. '|' .. label)
end
redis.call('HINCRBY', KEYS[1], 'items', #ready)
local over = redis.call('ZCARD', KEYS[5]) - tonumber(ARGV[9])
if over > 0 then
  redis.call('HDEL', KEYS[6], unpack(redis.call('ZPOPMIN', KEYS[5], math.min(over, 1000))))
end
open_until(KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[6]), ARGV[3])
return { room, #expired, redis.call('HLEN', KEYS[4]), unpack(out) }
