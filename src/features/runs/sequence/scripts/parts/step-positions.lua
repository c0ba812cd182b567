-- The positions of a step, in the order of the sequence.
local function step_positions(states)
  local positions = redis.call('HKEYS', states)
  table.sort(positions, function(a, b)
    return tonumber(a) < tonumber(b)
  end)
  return positions
end
