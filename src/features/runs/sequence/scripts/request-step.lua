-- Requests the items of a training step. The first call takes the next open positions; later ones get the same.
-- KEYS  see parts/sequence.lua, parts/requested-positions.lua and parts/step-positions.lua
-- ARGV  1 epoch  2 revision of the settings that the caller makes items with  3 number of items, '': that of the step
--       4 now, ms  5 positions to keep open  6 step
-- Returns { 'run_changed' } if the epoch or revision is different, { 'other_count', count } if the step has another
-- number of items, { 'unmade' } if too few positions are open now, or the result of issue_positions.
-- include parts/sequence
-- include parts/requested-positions
-- include parts/step-positions
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if run[1] ~= ARGV[1] or run[2] ~= ARGV[2] then
  return { 'run_changed' }
end
local wanted, now, target = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

-- Returns the lowest open positions, or nil if there are fewer than `count`.
local function take_open(count)
  open_positions(math.max(count, target), now)
  local open = redis.call('ZRANGE', K.openPositions, 0, count - 1)
  if #open < count then
    return nil
  end
  for k, position in ipairs(open) do
    request_position(position, now)
    open[k] = tonumber(position)
  end
  return open
end

-- Whether the step keeps a position. One that was skipped or has no item is replaced by the next open one.
local function keeps(position)
  local item = get_issued(position)
  if item then
    return not item.failed
  end
  return redis.call('HEXISTS', K.requestedPositions, position) == 1
end

local positions = get_step(ARGV[6])
if not positions then
  positions = take_open(wanted or 1)
  if not positions then
    return { 'unmade' }
  end
  put_step(ARGV[6], positions)
  redis.call('HINCRBY', K.run, RUN.items, #positions)
  open_positions(target, now)
elseif wanted and wanted ~= #positions then
  return { 'other_count', #positions }
else
  local kept = {}
  for _, position in ipairs(positions) do
    if keeps(position) then
      table.insert(kept, position)
    end
  end
  if #kept < #positions then
    local more = take_open(#positions - #kept)
    if not more then
      return { 'unmade' }
    end
    for _, position in ipairs(more) do
      table.insert(kept, position)
    end
    put_step(ARGV[6], kept)
    positions = kept
  end
end
return issue_positions(positions)
