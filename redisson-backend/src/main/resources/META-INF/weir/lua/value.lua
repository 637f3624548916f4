-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds for TIME only, and otherwise in milliseconds.
--
-- The time, and the value of a key of operators. This file precedes report.lua, read.lua and changes.lua.
--
-- Everyone who can write such a key can store any number of bytes, and a script stops all decisions while it runs. Therefore a script reads
-- at most one byte more than the longest value. It cuts text at line feeds before it matches a line, since a pattern that is not anchored
-- starts again at each byte.
-- Complexity  O(bytes of the longest value)

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Returns the value of a key, or more bytes than the longest value if it is longer; false for no value, and a table for an error. A user
-- without the right for GETRANGE reads the whole value.
local function valueOf(key, longest)
  local value = redis.pcall('GETRANGE', key, 0, longest)
  if value == '' or type(value) == 'table' and not value.err:find('WRONGTYPE', 1, true) then
    return redis.pcall('GET', key)
  end
  return value
end

local function number(value)
  return string.format('%.0f', value)
end
