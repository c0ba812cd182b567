-- Adds up the sums of the steps of each of several rows. Reading them one by one would take several times as long to send and to parse.
-- KEYS  metricSteps (sorted set of steps; only names the slot)
-- ARGV  1 prefix of the keys of one step's sums
--       2 JSON: prefixes of the fields to read  excluded: those fields are left out instead  rows: steps of each (as text)
-- Returns lines of fields; JSON: for each row, the places of its fields among them (from 0) and their sums (of a time, the latest).
local call = cjson.decode(ARGV[2])
local fields, places = {}, {}

local function choose(field)
  local matches = false
  for _, prefix in ipairs(call.prefixes) do
    if string.sub(field, 1, #prefix) == prefix then
      matches = true
      break
    end
  end
  return matches ~= call.excluded
end

-- As text, since formatting a number for each field of each step would take longest; false for a field that is not to be read.
local function place_of(field)
  local place = places[field]
  if place == nil then
    place = choose(field) and tostring(#fields)
    if place then
      fields[#fields + 1] = field
    end
    places[field] = place
  end
  return place
end

local function format_row(row_places, sums)
  return '[[' .. table.concat(row_places, ',') .. '],[' .. table.concat(sums, ',') .. ']]'
end

local function list(step)
  local hash = redis.call('HGETALL', ARGV[1] .. step)
  local row_places, sums = {}, {}
  for k = 1, #hash, 2 do
    local place = place_of(hash[k])
    if place then
      row_places[#row_places + 1] = place
      sums[#sums + 1] = hash[k + 1]
    end
  end
  return format_row(row_places, sums)
end

local function merge(steps)
  local by_place = {}
  for _, step in ipairs(steps) do
    local hash = redis.call('HGETALL', ARGV[1] .. step)
    for k = 1, #hash, 2 do
      local place = place_of(hash[k])
      if place then
        local amount = tonumber(hash[k + 1]) or 0
        if hash[k] == STEP.last_completed_at then
          by_place[place] = math.max(by_place[place] or 0, amount)
        else
          by_place[place] = (by_place[place] or 0) + amount
        end
      end
    end
  end
  local row_places, sums = {}, {}
  for place, sum in pairs(by_place) do
    row_places[#row_places + 1] = place
    sums[#sums + 1] = string.format('%.17g', sum)
  end
  return format_row(row_places, sums)
end

local rows = {}
for row, steps in ipairs(call.rows) do
  rows[row] = #steps == 1 and list(steps[1]) or merge(steps)
end
return { table.concat(fields, '\n'), '[' .. table.concat(rows, ',') .. ']' }
