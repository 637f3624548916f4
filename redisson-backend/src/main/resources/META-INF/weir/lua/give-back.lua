-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which are loaded in front of this.
--
-- Gives back what was spent, as far as it still counts, or drops a state. Never touches a key that holds something else.
-- KEYS        one per limit
-- ARGV[1]     now I7 (0: Redis's clock), operation B (1 gives back by receipt, 2 without one, 3 drops), and for each key a limit
--             (state.lua) and the cost I6; operation 1: also the state right after the charge: I7 I7 I6, of a log only its entry
-- Reply       one string: outcome B (1 done, 2 a key holds something else), now I7
-- Complexity  O(keys), and the entries of a log before the one given back or behind it, whichever are fewer

-- By receipt: from the state as it is stored, since the limit of the charge need not be the one that applies now. A state from
-- before the charge's window, or from after it, is left alone.
local function byReceipt(letter, permits, units, exponent, most, cost, a, b, c, thenA, thenB, thenC)
  if letter == 115 then
    if thenA == a then
      return math.max(0, b - cost), c
    elseif thenA + units * 10 ^ exponent == a then
      return b, math.max(0, c - cost)
    end
  elseif letter == 102 then
    if thenA == a then
      return math.max(0, b - cost), c
    end
  elseif thenC == c then
    -- Permits return in the order they were spent: what of the debt right after the charge is left is what can be given back.
    local _, left = advance(now, letter, permits, units, exponent, most, thenA, thenB, thenC)
    return math.max(0, b - math.min(left, cost * units)), c
  end
  return b, c
end

local function byCost(letter, units, cost, b, c)
  if letter == 115 then
    local fromCurrent = math.min(b, cost)
    return b - fromCurrent, math.max(0, c - (cost - fromCurrent))
  elseif letter == 102 then
    return math.max(0, b - cost), c
  end
  return math.max(0, b - cost * units), c
end

local input, outcome = ARGV[1], 1
local operation
operation, at = struct.unpack('B', input, at)
for i = 1, #KEYS do
  local key = KEYS[i]
  local letter, permits, units, exponent, capacity, most, cost, thenA, thenB, thenC
  letter, permits, units, exponent, capacity, most, cost, at = struct.unpack('>BI6I6BI6I7I6', input, at)
  if operation == 1 then
    thenA, thenB, thenC, at = struct.unpack('>I7I7I6', input, at)
  end
  if letter == 103 then
    local logs = newLogs(now)
    local log = logs.read(key, units * 10 ^ exponent)
    if not log then
      outcome = 2
    elseif operation == 1 then
      logs.giveBackAt(key, log, thenA, cost)
    else
      logs.giveBackLatest(key, log, operation == 2 and cost or 9007199254740992)
    end
  else
    local a, b, c = read(key, letter)
    if a == false then
      outcome = 2
    elseif a and operation == 3 then
      redis.call('DEL', key)
    elseif a then
      local newB, newC
      if operation == 1 then
        newB, newC = byReceipt(letter, permits, units, exponent, most, cost, a, b, c, thenA, thenB, thenC)
      else
        a, b, c = advance(now, letter, permits, units, exponent, most, a, b, c)
        newB, newC = byCost(letter, units, cost, b, c)
      end
      if newB == 0 and (newC == 0 or letter ~= 115) then
        redis.call('DEL', key)
      elseif newB ~= b or newC ~= c then
        -- Less is left than before, so the life that the key has is enough.
        local format = letter == 115 and '>I7I6I6' or letter == 102 and '>I7I6' or '>I7I7B'
        redis.call('SET', key, struct.pack(format, a, newB, newC), 'KEEPTTL')
      end
    end
  end
end
return struct.pack('>BI7', outcome, now)
