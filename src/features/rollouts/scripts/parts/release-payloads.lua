-- Lists payloads that are no longer used, for the caller to delete: their keys are in other slots.
-- releases  list of `PART TOKEN`; PART is `arrays` (the texts stay for readers until they expire) or `all`
-- key       releasedPayloads (set)
local MAX_MEMBERS = 1000 -- of one call, because Lua unpacks a limited number

local function release_payload(releases, part, payload)
  local token = payload and string.match(payload, '^[^:]+')
  if token then
    table.insert(releases, part .. ' ' .. token)
  end
end

local function list_releases(key, releases)
  for k = 1, #releases, MAX_MEMBERS do
    redis.call('SADD', key, unpack(releases, k, math.min(k + MAX_MEMBERS - 1, #releases)))
  end
end
