-- For entries in Redis that cannot be read. A script sets them aside and goes on, so that they block nothing else, and
-- its process logs UNREADABLE, which scripts.ts declares.

-- name  field or member of the key
local function set_aside(key, name)
  table.insert(UNREADABLE, { key, tostring(name) })
end

-- Returns the object that the JSON text holds, or nil.
local function read_object(text)
  local is_json, value = pcall(cjson.decode, text or '')
  return is_json and type(value) == 'table' and value or nil
end
