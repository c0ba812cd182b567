-- The positions of training steps, for as long as the run exists: a hash for each ISSUED.steps_per_chunk steps has the
-- positions of a step as text, `0+64,70+2` for 0 to 63, 70 and 71. step-positions.ts is the same codec in TypeScript.
-- KEYS  stepChunks (sorted set: number of a chunk by itself)  stepPositionsPrefix (of the chunks' keys, no key itself)
-- include chunk-number
local function step_key(step)
  return K.stepPositionsPrefix .. chunk_number(step, ISSUED.steps_per_chunk)
end

-- In the order of the sequence; nil for a step that was never asked for.
local function get_step(step)
  local text = redis.call('HGET', step_key(step), step)
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
  local chunk = chunk_number(step, ISSUED.steps_per_chunk)
  redis.call('ZADD', K.stepChunks, chunk, chunk)
  redis.call('HSET', step_key(step), step, table.concat(stretches, ','))
end
