-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which precede this script.
--
-- Refunds charges as far as they still count, or removes states. Never changes a foreign value.
-- KEYS        one per limit
-- ARGV[1]     clock (state.lua); operation B (1 refunds by receipt, 2 refunds a cost, 3 removes the state); for each key its
--             limit (state.lua) and the cost in permits I6; for operation 1 also the state right after the charge: I7 I7 I6, of a
--             sliding log only the entry
-- Reply       one string: outcome B (1 done, 2 a key has a foreign value), now I7
-- Complexity  O(keys), and for a sliding log the number of entries before or after the refunded one, whichever are fewer
-- Redis       6.2 or later

-- Refunds by receipt, from the stored state, since the limit of the charge may differ from the current one. A state of an earlier or a
-- later window stays as it is.
local function byReceipt(letter, permits, units, exponent, maxDebt, cost, a, b, c, thenA, thenB, thenC)
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
    -- Permits return in the order in which they were spent. The rest of the debt right after the charge can be refunded.
    local _, left = advance(now, letter, permits, units, exponent, maxDebt, thenA, thenB, thenC)
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
  local letter, permits, units, exponent, capacity, maxDebt, cost, thenA, thenB, thenC
  letter, permits, units, exponent, capacity, maxDebt, cost, at = struct.unpack('>BI6I6BI6I7I6', input, at)
  if operation == 1 then
    thenA, thenB, thenC, at = struct.unpack('>I7I7I6', input, at)
  end
  if letter == 103 then
    local logs = newLogs(now)
    local log = logs.read(key, units * 10 ^ exponent)
    if not log then
      outcome = 2
    elseif operation == 1 then
      logs.refundAt(key, log, thenA, cost)
    else
      logs.refundLatest(key, log, operation == 2 and cost or 9007199254740992)
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
        newB, newC = byReceipt(letter, permits, units, exponent, maxDebt, cost, a, b, c, thenA, thenB, thenC)
      else
        a, b, c = advance(now, letter, permits, units, exponent, maxDebt, a, b, c)
        newB, newC = byCost(letter, units, cost, b, c)
      end
      if newB == 0 and (newC == 0 or letter ~= 115) then
        redis.call('DEL', key)
      elseif newB ~= b or newC ~= c then
        -- The state has fewer permits than before, so the time to live of the key is long enough.
        local format = letter == 115 and '>I7I6I6' or letter == 102 and '>I7I6' or '>I7I7B'
        redis.call('SET', key, struct.pack(format, a, newB, newC), 'KEEPTTL')
      end
    end
  end
end
return struct.pack('>BI7', outcome, now)
