-- Requests the items of consecutive positions, whether the queue, a step or this call requested them first.
-- KEYS  see parts/sequence.lua and parts/requested-positions.lua
-- ARGV  1 JSON: epoch  revision of the settings that the caller makes items with (both as text)
--         first: first position; if missing, the one after all positions that are in use  count  now, ms  to_open: positions to keep open
-- Returns { 'run_changed' } if the epoch or revision is different, { 'too_far', end } if a position is `end` or beyond,
-- or the result of issue_positions.
-- include parts/sequence
-- include parts/requested-positions
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.position, RUN.requested_end)
local call = cjson.decode(ARGV[1])
if run[1] ~= call.epoch or run[2] ~= call.revision then
  return { 'run_changed' }
end
local unopened, requested_end = tonumber(run[3] or 0), tonumber(run[4] or 0)
local first, now = call.first or math.max(unopened, requested_end), call.now
local past = first + call.count
local limit = math.min(math.max(unopened, requested_end) + LIMITS.positions_ahead, LIMITS.addressable_positions)
if past > limit then
  return { 'too_far', string.format('%.0f', limit) }
end
local positions, requested = {}, 0
for position = first, past - 1 do
  table.insert(positions, position)
  if not is_requested_or_issued(position) then
    request_position(position, now)
    requested = requested + 1
  end
end
if requested > 0 then
  redis.call('HINCRBY', K.run, RUN.items, requested)
  redis.call('HSET', K.run, RUN.requested_end, string.format('%.0f', math.max(requested_end, past)))
  if first <= unopened and unopened < past then
    redis.call('HSET', K.run, RUN.position, string.format('%.0f', past)) -- none of them is to be opened
  end
  open_positions(call.to_open, now)
end
return issue_positions(positions)
