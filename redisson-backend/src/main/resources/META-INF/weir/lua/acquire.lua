-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua, which is loaded in front of this.
--
-- Evaluates every limit at one instant; spends all of them if all have room, else writes nothing. The one exception: a state from
-- the future, left by a clock that stepped back, is written as of now once, or the wait it tells would be told for ever.
-- KEYS        one per limit, all different
-- ARGV[1]     see state.lua; operation 1 spends, 0 only looks
-- Reply       one string: outcome B (1 room in all, 0 not, 2 a key holds something else: nothing was written), now I7, then for
--             each key the state after the decision: I7 I7 I6
-- Complexity  O(keys)

local at = first
local room = true
local states = {}
local ahead = nil
for i = 1, #KEYS do
  local letter, permits, units, exponent, capacity, cost
  letter, permits, units, exponent, capacity, cost, at = struct.unpack(LIMIT, ARGV[1], at)
  local a, b, c = read(KEYS[i], letter)
  if a == false then
    return struct.pack('>BI7', FOREIGN, now)
  end
  if a then
    if a > now then
      ahead = ahead or {}
      ahead[i] = true
    end
    a, b, c = advance(letter, permits, units, exponent, capacity, a, b, c)
  elseif letter == SLIDING or letter == FIXED then
    a, b, c = now, 0, 0
  else
    a, b, c = now, 0, exponent
  end
  if cost > capacity then
    room = false
  elseif letter == SLIDING then
    local left = units - floor((now - a) / UNITS[exponent])
    room = room and b + cost <= permits and c * left <= (permits - b - cost) * units
  elseif letter == FIXED then
    room = room and b + cost <= permits
  else
    room = room and b <= (capacity - cost) * units
  end
  states[3 * i - 2], states[3 * i - 1], states[3 * i] = a, b, c
end

local reply = {struct.pack('>BI7', room and DONE or REFUSED, now)}
at = first
for i = 1, #KEYS do
  local letter, permits, units, exponent, capacity, cost
  letter, permits, units, exponent, capacity, cost, at = struct.unpack(LIMIT, ARGV[1], at)
  local a, b, c = states[3 * i - 2], states[3 * i - 1], states[3 * i]
  if operation == 1 and (room or ahead and ahead[i]) then
    if room then
      b = b + ((letter == SLIDING or letter == FIXED) and cost or cost * units)
    end
    write(KEYS[i], letter, permits, units, exponent, a, b, c)
  end
  reply[i + 1] = struct.pack('>I7I7I6', a, b, c)
end
return table.concat(reply)
