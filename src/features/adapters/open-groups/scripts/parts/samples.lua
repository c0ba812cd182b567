-- The samples of open groups. An open group is a hash (repository.ts); a sample is pending until its response was sent.
-- include ../../../../../platform/redis/scripts/parts/unreadable

-- Returns a pending sample. One that cannot be read has no call and no content.
local function read_pending(key, id, json)
  local pending = read_object(json)
  if pending and type(pending.call) == 'string' and type(pending.content) == 'string' then
    return pending
  end
  set_aside(key, id)
  return {}
end

local function words(text)
  local list = {}
  for word in string.gmatch(text or '', '%S+') do
    table.insert(list, word)
  end
  return list
end

-- Returns the process of a call `PROCESS.NUMBER`, which is also the ID of a sample without a name.
local function process_of(id)
  return string.match(id, '^[^.]+')
end

local function set_words(key, field, list)
  if #list == 0 then
    redis.call('HDEL', key, field)
  else
    redis.call('HSET', key, field, table.concat(list, ' '))
  end
end

local function push(list, ...)
  for _, value in ipairs({ ... }) do
    table.insert(list, value)
  end
end
