-- Statistics of a run over time: the packed sums of its tasks, steps and blocks of groups, and figures of the last groups of each task.
local MAX_STEPS = 10000

-- A completed group belongs to the batch that is composed next or, if no batch is ever composed, to its policy version.
local function next_step(last, policy_version)
  return last and tonumber(last) + 1 or policy_version or 0
end

-- A run without steps, such as one that collects, has its metrics over time: by blocks of at least BLOCK groups, named by the
-- number of their first group. Whenever a run has BLOCKS blocks of one size, the next ones are twice as large.
local BLOCK, BLOCKS = 8, 1024

local function first_of_block(number)
  local size = BLOCK
  while number > size * BLOCKS do
    size = size * 2
  end
  return math.floor((number - 1) / size) * size + 1
end

-- Adds sums to those of a row, which write_rows writes. Call it before the script writes anything: it fails if they are damaged.
-- rows   by field: what is to be written  key  hash of packed sums  index  sorted set of its fields, if a rewind is to undo it
local function add_to_row(rows, key, index, field, sums, now)
  -- Lua itself writes 14 digits of a number, and some trainers count versions in microseconds
  local name = index and string.format('%.0f', field) or field
  local row = rows[name]
  if not row then
    local packed = redis.call('HGET', key, name)
    row = { key = key, index = index, before = packed or '', sums = packed and cmsgpack.unpack(packed) or {} }
    rows[name] = row
  end
  local total = row.sums
  for of, amount in pairs(sums) do
    total[of] = (total[of] or 0) + amount
  end
  total[SUMS.last_completed_at] = now
end

-- step_state  hash of the newest recorded state of the run, nil if there is none (runs/scripts/parts/step-states.lua)
local function write_rows(rows, step_state)
  for name, row in pairs(rows) do
    redis.call('HSET', row.key, name, cmsgpack.pack(row.sums))
    if row.index then
      if step_state then
        redis.call('HSETNX', step_state, string.match(row.key, '[^:]+$') .. ' ' .. name, row.before)
      end
      redis.call('ZADD', row.index, name, name)
    end
  end
end

local function drop_old_steps(steps, step_sums)
  for _ = 1, redis.call('ZCARD', steps) - MAX_STEPS do
    redis.call('HDEL', step_sums, redis.call('ZPOPMIN', steps)[1])
  end
end

-- Appends to the comma-separated list of a task and keeps its newest entries.
local function append_recent(key, task, entries, max)
  local all = redis.call('HGET', key, task)
  all = (all and all .. ',' or '') .. table.concat(entries, ',')
  local _, commas = string.gsub(all, ',', '')
  local start = 1
  for _ = 1, commas + 1 - max do
    start = string.find(all, ',', start, true) + 1
  end
  redis.call('HSET', key, task, string.sub(all, start))
end
