-- Adds up the sums of the steps of each of several rows. Reading them one by one would take several times as long to send and to parse.
-- KEYS  metricSteps (sorted set of steps; only names the slot)
-- ARGV  1 prefix of the keys of one step's sums
--       2 JSON: prefixes of the fields to read  excluded: those fields are left out instead  rows: steps of each (as text)
-- Returns for each row lines of a field, a space and its sum; of a time, the latest.
local call = cjson.decode(ARGV[2])
local chosen = {}

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

local function isChosen(field)
  local wanted = chosen[field]
  if wanted == nil then
    wanted = choose(field)
    chosen[field] = wanted
  end
  return wanted
end

local function list(step)
  local hash = redis.call('HGETALL', ARGV[1] .. step)
  local lines = {}
  for k = 1, #hash, 2 do
    if isChosen(hash[k]) then
      lines[#lines + 1] = hash[k] .. ' ' .. hash[k + 1]
    end
  end
  return table.concat(lines, '\n')
end

local function merge(steps)
  local sums = {}
  for _, step in ipairs(steps) do
    local hash = redis.call('HGETALL', ARGV[1] .. step)
    for k = 1, #hash, 2 do
      local field = hash[k]
      if isChosen(field) then
        local amount = tonumber(hash[k + 1]) or 0
        if field == STEP.last_completed_at then
          sums[field] = math.max(sums[field] or 0, amount)
        else
          sums[field] = (sums[field] or 0) + amount
        end
      end
    end
  end
  local lines = {}
  for field, sum in pairs(sums) do
    lines[#lines + 1] = field .. ' ' .. string.format('%.17g', sum)
  end
  return table.concat(lines, '\n')
end

local texts = {}
for row, steps in ipairs(call.rows) do
  texts[row] = #steps == 1 and list(steps[1]) or merge(steps)
end
return texts
