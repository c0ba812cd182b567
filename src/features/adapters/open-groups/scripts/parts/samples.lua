-- The samples of open groups. An open group is a hash (open-group-record.ts); a sample is pending until its answer has left.
local function words(text)
  local list = {}
  for word in string.gmatch(text or '', '%S+') do
    table.insert(list, word)
  end
  return list
end

-- The process of a call, `PROCESS.NUMBER`, which is the ID of a sample without a name, too.
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
