-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds for TIME only, and otherwise in milliseconds; see value.lua, which precedes this script.
--
-- Returns the state of the runtime changes, or replaces it if it has the expected tag.
--
-- KEYS     1: the state, whose first line is its tag '<number>-<time>', each of up to 15 digits. 2, to replace it: the entry of the log
--          for the new state
-- ARGV[1]  a line '<tag> <bytes of a state> <bytes of the new state>', followed by the new state and the entry. The tag is the known
--          or the expected one, '-' for no state. The last number and the contents are absent without a second key.
-- Reply    TIME in milliseconds as text, a line feed, and a letter: 'n' for no state, 't' for a state with the given tag, 'f' for a
--          value that is no state, 'v' with the state that follows; to replace a state: 'r' if it is replaced, otherwise 'c'
-- Complexity  O(bytes of the state)

local argument = ARGV[1]
local ends = argument:find('\n', 1, true)
local given, max, length = argument:sub(1, ends - 1):match('^(%S+) (%d+) ?(%d*)$')
local prefix = number(now) .. '\n'

local value = valueOf(KEYS[1], tonumber(max))
-- An error that is no WRONGTYPE concerns all keys.
if type(value) == 'table' and not value.err:find('WRONGTYPE', 1, true) then
  return value
end
local tag = '-'
if type(value) == 'string' and #value <= tonumber(max) then
  local count, written = value:sub(1, 65):match('^([1-9]%d*)%-(%d+)\n')
  if count and #count <= 15 and #written <= 15 then
    tag = count .. '-' .. written
  end
end

if not KEYS[2] then
  if not value then
    return prefix .. 'n'
  end
  if tag == '-' then
    return prefix .. 'f'
  end
  return prefix .. (tag == given and 't' or 'v' .. value)
end

-- A value that is no state has no tag, so the next change replaces it.
if tag ~= given then
  return prefix .. 'c'
end
local ended = ends + tonumber(length)
redis.call('SET', KEYS[1], argument:sub(ends + 1, ended))
redis.call('SET', KEYS[2], argument:sub(ended + 1))
return prefix .. 'r'
