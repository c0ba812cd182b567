-- Deletes the stored outputs of some samples.
-- KEYS  job (hash)  outputs (hash: sample to output)
-- ARGV  1… samples
-- include parts/generation-job
for _, sample in ipairs(ARGV) do
  delete_output(K.job, K.outputs, sample)
end
