-- Changes of a hash that are written at once. Each command that a script runs takes longer than what it adds up.

local function open_changes(key)
  return { key = key, values = {}, amounts = {} }
end

local function set_value(changes, field, value)
  changes.values[field] = value
  changes.amounts[field] = nil
end

local function add_amount(changes, field, amount)
  local values = changes.values[field] and changes.values or changes.amounts
  values[field] = (values[field] or 0) + amount
end

local function add_amounts(changes, amounts)
  for field, amount in pairs(amounts) do
    add_amount(changes, field, amount)
  end
end

-- Turns amounts into new values. Call it before the script writes anything: it fails if a stored value is not a number.
local function read_sums(changes)
  local fields = {}
  for field in pairs(changes.amounts) do
    table.insert(fields, field)
  end
  if not fields[1] then
    return
  end
  for k, known in ipairs(redis.call('HMGET', changes.key, unpack(fields))) do
    local sum = (known and tonumber(known) or not known and 0) + changes.amounts[fields[k]]
    set_value(changes, fields[k], string.format('%.17g', sum))
  end
end

local function write_changes(changes)
  local args = {}
  for field, value in pairs(changes.values) do
    table.insert(args, field)
    table.insert(args, value)
  end
  if args[1] then
    redis.call('HSET', changes.key, unpack(args))
  end
end
