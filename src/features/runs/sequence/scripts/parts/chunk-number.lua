-- The chunk that something numbered lies in, as text.
local function chunk_number(number, size)
  return string.format('%.0f', math.floor(tonumber(number) / size))
end
