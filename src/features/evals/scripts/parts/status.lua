-- Returns whether a job with this status (string, or false if there is no job) has not ended.
local function is_active(status)
  return status == 'queued' or status == 'running'
end
