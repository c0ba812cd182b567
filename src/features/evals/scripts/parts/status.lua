-- Whether a job of this status (string, or false if there is no job) is not over yet.
local function is_active(status)
  return status == 'queued' or status == 'running'
end
