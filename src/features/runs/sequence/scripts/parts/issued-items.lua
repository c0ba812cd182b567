-- The items that the run has issued, by position, for as long as the run exists. issued-items.ts is the same codec in
-- TypeScript. A string holds ISSUED.positions_per_chunk records of ISSUED.record_bytes bytes:
--   what (0: not issued, ISSUED.no_item: it has none for ever, else 1 + retry, and 128 more without a difficulty),
--   number of the task in the list of tasks (2 bytes), difficulty (8 bytes); little-endian
-- KEYS  issuedChunks (sorted set: number of a chunk by itself)  issuedItemsPrefix (of the chunks' keys, no key itself)
--       issuedTasks (list of task names)
-- include chunk-number
local RECORD_FORMAT = '<BHd'
local chunk_texts, task_names = {}, nil

local function issued_key(position)
  return K.issuedItemsPrefix .. chunk_number(position, ISSUED.positions_per_chunk)
end

local function issued_offset(position)
  return position % ISSUED.positions_per_chunk * ISSUED.record_bytes
end

local function issued_tasks()
  task_names = task_names or redis.call('LRANGE', K.issuedTasks, 0, -1)
  return task_names
end

-- Nil if the position has not issued its item; { failed } if it has none; else { task, difficulty ('' for none), retry }.
local function get_issued(position)
  position = tonumber(position)
  local key = issued_key(position)
  chunk_texts[key] = chunk_texts[key] or redis.call('GET', key) or ''
  local start = issued_offset(position) + 1
  local what = string.byte(chunk_texts[key], start) or 0
  if what == 0 then
    return nil
  elseif what == ISSUED.no_item then
    return { failed = true }
  end
  local _, task, difficulty = struct.unpack(RECORD_FORMAT, chunk_texts[key], start)
  local item = { task = issued_tasks()[task + 1], retry = what % 128 - 1 }
  item.difficulty = what < 128 and string.format('%.17g', difficulty) or ''
  return item
end

local function put_issued_record(position, what, task, difficulty)
  local key, chunk = issued_key(position), chunk_number(position, ISSUED.positions_per_chunk)
  if redis.call('ZADD', K.issuedChunks, chunk, chunk) == 1 then -- at its full size at once: Redis doubles what grows
    redis.call('SETRANGE', key, ISSUED.positions_per_chunk * ISSUED.record_bytes - 1, '\0')
  end
  redis.call('SETRANGE', key, issued_offset(position), struct.pack(RECORD_FORMAT, what, task, difficulty))
  chunk_texts[key] = nil
end

local function task_number(task)
  local names = issued_tasks()
  for k, name in ipairs(names) do
    if name == task then
      return k - 1
    end
  end
  redis.call('RPUSH', K.issuedTasks, task)
  table.insert(names, task)
  return #names - 1
end

local function put_issued(position, task, difficulty, retry)
  local what = 1 + tonumber(retry or 0) + (difficulty == '' and 128 or 0)
  put_issued_record(tonumber(position), what, task_number(task), tonumber(difficulty) or 0)
end

local function put_no_item(position)
  put_issued_record(tonumber(position), ISSUED.no_item, 0, 0)
end
