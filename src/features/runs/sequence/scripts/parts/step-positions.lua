-- The positions of training steps, kept as text as long as the run exists. Each hash field has ISSUED.steps_per_chunk
-- steps. `;7=0+64,70+2` says that step 7 has positions 0 to 63, 70 and 71. step-positions.ts is the same codec in
-- TypeScript.
-- KEYS  stepPositions (hash: number of a chunk to its steps)
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
  local others = string.gsub(chunk, ';' .. step .. '=[^;]*', '')
  redis.call('HSET', K.stepPositions, number, others .. ';' .. step .. '=' .. table.concat(stretches, ','))
end
