-- Requests the items of a training step. The first call takes the next open positions; later ones get the same.
-- KEYS  see parts/sequence.lua and parts/requested-positions.lua; also stepPositions (hash: number of a chunk to its steps)
-- ARGV  1 JSON: epoch  revision of the settings that the caller makes items with  step (all as text)
--         count: number of items, absent: that of the step  now, ms  to_open: positions to keep open
-- Returns { 'run_changed' } if the epoch or revision is different, { 'other_count', count } if the step has another
-- number of items, { 'unmade' } if too few positions are open now, or the result of issue_positions.
-- include parts/sequence
-- include parts/requested-positions

-- The positions of training steps are kept as text as long as the run exists. Each hash field has ISSUED.steps_per_chunk
-- steps. `;7=0+64,70+2` says that step 7 has positions 0 to 63, 70 and 71. requested.ts is the same codec in TypeScript.
local function step_chunk(step)
  local number = string.format('%.0f', math.floor(tonumber(step) / ISSUED.steps_per_chunk))
  return number, redis.call('HGET', K.stepPositions, number) or ''
end

-- Returns a step's positions in the order of the sequence, or nil if the step was never requested.
local function get_step(step)
  local _, chunk = step_chunk(step)
  local text = string.match(chunk, ';' .. step .. '=([^;]*)')
  if not text then
    return nil
  end
  local positions = {}
  for first, count in string.gmatch(text, '(%d+)%+(%d+)') do
    for position = tonumber(first), tonumber(first) + tonumber(count) - 1 do
      table.insert(positions, position)
    end
  end
  if #positions == 0 then
    set_aside(K.stepPositions, step)
    return nil
  end
  return positions
end

local function put_step(step, positions)
  table.sort(positions)
  local stretches, k = {}, 1
  while k <= #positions do
    local count = 1
    while positions[k + count] == positions[k] + count do
      count = count + 1
    end
    table.insert(stretches, string.format('%.0f+%d', positions[k], count))
    k = k + count
  end
  local number, chunk = step_chunk(step)
  local others, known = string.gsub(chunk, ';' .. step .. '=[^;]*', '')
  redis.call('HSET', K.stepPositions, number, others .. ';' .. step .. '=' .. table.concat(stretches, ','))
  if known == 0 then
    log_handed_out(K.run, K.stepStates, { 's' .. step })
  end
end

local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
local call = cjson.decode(ARGV[1])
if run[1] ~= call.epoch or run[2] ~= call.revision then
  return { 'run_changed' }
end
local wanted, now, target = call.count, call.now, call.to_open

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

begin_step(K.run, K.stepStates, tonumber(call.step), 'items', now)
local positions = get_step(call.step)
if not positions then
  positions = take_open(wanted or 1)
  if not positions then
    return { 'unmade' }
  end
  put_step(call.step, positions)
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
    put_step(call.step, kept)
    positions = kept
  end
end
return issue_positions(positions)
