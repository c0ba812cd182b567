-- The samples of open groups. An open group is a hash (repository.ts); a sample is pending until its response was sent.
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
