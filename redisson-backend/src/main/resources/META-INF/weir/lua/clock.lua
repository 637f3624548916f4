-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds since 2025-01-01T00:00:00Z. Counts are whole numbers below 2^53, which Lua represents exactly.
--
-- The instant of a script call. This file precedes each script of this folder.
--
-- A script call looks up each global name and creates each function anew, so the names that most calls need are locals, and code that every
-- call runs precedes the functions.
-- ARGV[1]     form B: even for Redis's clock, which is read once, odd for the instant I7 that follows

local input, keys = ARGV[1], KEYS
local call, parse, pack, byte = redis.call, struct.unpack, struct.pack, string.byte
local form, at, now = byte(input), 2, nil
if form % 2 == 0 then
  local time = call('TIME')
  now = (time[1] - 1735689600) * 1000000 + time[2]
  if now < 1 then
    now = 1
  end
else
  now, at = parse('>I7', input, at)
end
