-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds for TIME only, and otherwise in milliseconds; see value.lua, which precedes this script.
--
-- Returns the values of keys without changing them.
--
-- KEYS     one or more keys
-- ARGV[1]  the greatest number of bytes of a value
-- Reply    TIME in milliseconds as text and a line feed. For each key follows a letter: 'v' with the length of the value (4 bytes,
--          big-endian) and the value, 'n' for no value, 'f' for a value of another type or one that is too long.
-- Complexity  O(bytes of the values)

local longest = tonumber(ARGV[1])
local parts = {number(now), '\n'}
for i = 1, #KEYS do
  local value = valueOf(KEYS[i], longest)
  if not value then
    parts[#parts + 1] = 'n'
  elseif type(value) == 'table' or #value > longest then
    -- An error that is no WRONGTYPE concerns all keys.
    if type(value) == 'table' and not value.err:find('WRONGTYPE', 1, true) then
      return value
    end
    parts[#parts + 1] = 'f'
  else
    parts[#parts + 1] = struct.pack('>c1I4', 'v', #value)
    parts[#parts + 1] = value
  end
end
return table.concat(parts)
