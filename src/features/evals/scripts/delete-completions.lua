-- Forgets what the model gave for some samples.
-- KEYS  job (hash)  completions (hash: sample to text)
-- ARGV  1… samples
-- include parts/completions
for _, sample in ipairs(ARGV) do
  forget_text(K.job, K.completions, sample)
end
return 1
