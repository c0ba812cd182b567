-- Forgets what the model gave for a sample: the sampling's count of bytes falls by as much.
-- sampling (hash), texts (hash: sample to text)
local function forget_text(sampling, texts, sample)
  local bytes = redis.call('HSTRLEN', texts, sample)
  if bytes > 0 then
    redis.call('HDEL', texts, sample)
    redis.call('HINCRBY', sampling, 'bytes', -bytes)
  end
end
