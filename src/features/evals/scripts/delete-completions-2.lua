-- Forgets what the model gave for some samples.
-- KEYS  1 sampling (hash)  2 texts (hash: sample to text)
-- ARGV  1… samples
-- include parts/completions
for _, sample in ipairs(ARGV) do
  forget_text(KEYS[1], KEYS[2], sample)
end
return 1
