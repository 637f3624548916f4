-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua, which is loaded in front of this.
--
-- Gives back what was spent, as far as it still counts, or drops a state. Never touches a key that holds something else.
-- KEYS        one per limit
-- ARGV[1]     see state.lua; operation 1 gives back by receipt, 2 without one, 3 drops
-- ARGV[2]     operation 1: for each key the state right after the charge: I7 I7 I6
-- Reply       one string: outcome B (1 done, 2 a key holds something else), now I7
-- Complexity  O(keys)

-- By receipt: from the state as it is stored, since the limit of the charge need not be the one that applies now. A state from
-- before the charge's window, or from after it, is left alone.
local function byReceipt(letter, permits, units, exponent, capacity, cost, a, b, c, thenA, thenB, thenC)
  if letter == SLIDING then
    if thenA == a then
      return max(0, b - cost), c
    elseif thenA + units * UNITS[exponent] == a then
      return b, max(0, c - cost)
    end
  elseif letter == FIXED then
    if thenA == a then
      return max(0, b - cost), c
    end
  elseif thenC == c then
    -- Permits return in the order they were spent: what of the debt right after the charge is left is what can be given back.
    local _, left = advance(letter, permits, units, exponent, capacity, thenA, thenB, thenC)
    return max(0, b - min(left, cost * units)), c
  end
  return b, c
end

local function byCost(letter, units, cost, b, c)
  if letter == SLIDING then
    local fromCurrent = min(b, cost)
    return b - fromCurrent, max(0, c - (cost - fromCurrent))
  elseif letter == FIXED then
    return max(0, b - cost), c
  end
  return max(0, b - cost * units), c
end

local at, charged = first, 1
local outcome = DONE
for i = 1, #KEYS do
  local letter, permits, units, exponent, capacity, cost
  letter, permits, units, exponent, capacity, cost, at = struct.unpack(LIMIT, ARGV[1], at)
  local a, b, c = read(KEYS[i], letter)
  local thenA, thenB, thenC
  if operation == 1 then
    thenA, thenB, thenC, charged = struct.unpack('>I7I7I6', ARGV[2], charged)
  end
  if a == false then
    outcome = FOREIGN
  elseif a and operation == 3 then
    redis.call('DEL', KEYS[i])
  elseif a then
    local newB, newC
    if operation == 1 then
      newB, newC = byReceipt(letter, permits, units, exponent, capacity, cost, a, b, c, thenA, thenB, thenC)
    else
      a, b, c = advance(letter, permits, units, exponent, capacity, a, b, c)
      newB, newC = byCost(letter, units, cost, b, c)
    end
    if newB == 0 and (newC == 0 or letter ~= SLIDING) then
      redis.call('DEL', KEYS[i])
    elseif newB ~= b or newC ~= c then
      -- Less is left than before, so the life that the key has is enough.
      local format = letter == SLIDING and TWO_WINDOWS or letter == FIXED and ONE_WINDOW or BUCKET
      local state = struct.pack(format, a, newB, newC)
      redis.call('SET', KEYS[i], state, 'KEEPTTL')
    end
  end
end
return struct.pack('>BI7', outcome, now)
