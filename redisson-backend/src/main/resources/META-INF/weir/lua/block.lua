-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua and state.lua, which precede this script.
--
-- Blocks a key, ends its block, or counts rejections that lead to a penalty: a block that is longer each time. Never changes a foreign value.
-- KEYS        the key of a policy and caller; for operations 2 and 3 also the key of its penalties
-- ARGV[1]     clock (clock.lua); operation B: 1 blocks, 2 ends the block and removes the penalties, 3 counts rejections; length of the block
--             I7, of the first one for 3. For operation 3 also: rejections I4, rejections that lead to a penalty I4, their window in ms I5,
--             factor of the next block I2, longest block I7
-- Reply       one string: outcome B (1 done, 2 a key has a foreign value), now I7, end of the block I7 (0 for none), number of the penalty
--             that this call has imposed I2 (0 for none)
-- State       of a key, see state.lua. Of penalties one section: letter p B, window in ms I5, end I7, length I2: 20, end of the memory of
--             penalties I7, their number I2, start of the window I7, rejections in it I4
-- Complexity  O(sections), O(penalties) for a penalty
-- Redis       6.2 or later

local operation, length
operation, length, at = parse('>BI7', input, at)

-- Returns the reply.
local function replied(outcome, ends, penalty)
  return pack('>BI7I7I2', outcome, now, ends or 0, penalty or 0)
end

local find = newSections()
local raw = get(keys[1])
local found, _, latest, block = find(raw, {})
if found == false then
  return replied(2)
end
-- A section can have ended under an earlier limit, and count under a later one.
local rest, isStored = found and raw or '', block
if isStored then
  if byte(rest, -15) ~= 98 then
    return replied(2)
  end
  rest = string.sub(rest, 1, -16)
  block = block > now and block or nil
end

-- Blocks the key for at least a time.
local function extend(micros)
  if not block or block < now + micros then
    block = now + micros
    write(keys[1], rest .. pack('>BI5I7I2', 98, 1, block, 0), math.max(latest or 0, block))
  end
end

if operation == 1 then
  extend(length)
  return replied(1, block)
end
raw = get(keys[2])
local isOfPenalties = type(raw) == 'string' and #raw == 35 and byte(raw) == 112
if operation == 2 then
  if isStored then
    _, _, latest = find(rest, {})
    write(keys[1], rest, latest or 0)
  end
  if isOfPenalties then
    call('DEL', keys[2])
  end
  return replied(1)
end

local rejections, after, window, factor, longest
rejections, after, window, factor, longest, at = parse('>I4I4I5I2I7', input, at)
if block then
  return replied(1, block)
end
local memory, penalties, start, counted = 0, 0, now, 0
if raw and not isOfPenalties then
  return replied(2)
elseif raw then
  local storedWindow
  storedWindow, memory, penalties, start, counted = parse('>I5xxxxxxxxxI7I2I7I4', raw, 2)
  if start > now or now - start >= window * 1000 or storedWindow ~= window then
    start, counted = now, 0
  end
  if memory <= now then
    penalties = 0
  end
end
counted = math.min(counted + rejections, 4294967295)
local imposed
if counted >= after then
  for _ = 1, penalties do
    length = length * factor
    if factor == 1 or length >= longest then
      break
    end
  end
  extend(math.min(length, longest))
  penalties = math.min(penalties + 1, 65535)
  memory, start, counted, imposed = block + longest, now, 0, penalties
end
local ends = math.max(memory, start + window * 1000)
write(keys[2], pack('>BI5I7I2I7I2I7I4', 112, window, ends, 20, memory, penalties, start, counted), ends)
return replied(1, block, imposed)
