-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, state.lua, log.lua and calendar.lua, which precede this script.
--
-- Refunds charges as far as they still count, or removes states. Never changes a foreign value.
-- KEYS        one per policy and caller
-- ARGV[1]     clock (clock.lua); operation B (1 refunds by receipt, 2 refunds a cost, 3 removes the key); for each key the cost in
--             permits I7, the number of limits I2 and the limits (state.lua); for operation 1 after each limit its state right after the
--             charge: I7 I7 I6, of a sliding log only the entry, of a calendar limit only the latest charge
-- Reply       one string: outcome B (1 done, 2 a key has a foreign value), now I7
-- Complexity  O(limits of keys), and for a sliding log the number of entries before or after the refunded one, whichever are fewer
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
    local _, left = advance(now, letter, permits, units, exponent, most(letter, permits, units, maxDebt), thenA, thenB, thenC)
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

local outcome, find, logs, calendars = 1, newSections(), nil, nil
local operation
operation, at = parse('B', input, at)
for k = 1, #KEYS do
  local key = KEYS[k]
  local limits, cost, count = {}, nil, nil
  cost, count, at = struct.unpack('>I7I2', input, at)
  for i = 1, count do
    local letter, permits, units, exponent, capacity, maxDebt, thenA, thenB, thenC
    letter, permits, units, exponent, capacity, maxDebt, at = struct.unpack('>BI6I6BI6I7', input, at)
    if operation == 1 then
      thenA, thenB, thenC, at = struct.unpack('>I7I7I6', input, at)
    end
    limits[i] = {letter, units * 10 ^ exponent / 1000, permits, units, exponent, maxDebt, thenA, thenB, thenC}
  end
  local found, others = find(key, limits, now)
  local sections, changed = {}, false
  for i = 1, count do
    local stored = found and found[i]
    if stored then
      local limit = limits[i]
      local letter, window, permits, units, exponent, maxDebt = limit[1], limit[2], limit[3], limit[4], limit[5], limit[6]
      local a, b, c, section, debt = stored[1], stored[2], stored[3], stored[4], stored[5]
      local left = section
      if letter == 103 then
        logs = logs or newLogs(now)
        local log = logs.read(section, window * 1000)
        if not log then
          found = false
        elseif operation == 1 then
          left = logs.refundAt(log, limit[7], cost)
        else
          left = logs.refundLatest(log, cost)
        end
      elseif letter == 99 then
        calendars = calendars or newCalendars(now)
        local first, spent, latest, ends
        first, spent, latest, ends, debt = calendars.read(section)
        if not first then
          found = false
        elseif operation == 2 then
          spent = math.min(spent, debt and calendars.most(permits) or permits)
          latest = math.min(latest, now)
          first = math.min(first, now)
        end
        -- A charge before the first one that counts was in an earlier period.
        if first and (operation == 2 or operation == 1 and limit[7] >= first) then
          spent = math.max(0, spent - cost)
          left = spent > 0 and calendars.encode(window, first, spent, latest, ends, debt) or nil
        end
      else
        local newB, newC
        if operation == 1 then
          newB, newC = byReceipt(letter, permits, units, exponent, maxDebt, cost, a, b, c, limit[7], limit[8], limit[9])
        else
          if debt then
            a, b, c, debt = advanceDebt(now, letter, permits, units, exponent, maxDebt, a, b, c)
          else
            a, b, c = advance(now, letter, permits, units, exponent, maxDebt, a, b, c)
          end
          newB, newC = byCost(letter, units, cost, b, c)
        end
        if newB == 0 and (newC == 0 or letter ~= 115) then
          left = nil
        elseif newB ~= b or newC ~= c then
          -- The state has fewer permits than before, so the time to live of the key is long enough.
          local life
          left, life = encode(now, letter, permits, units, 10 ^ exponent, a, newB, newC)
          if debt then
            left = encodeDebt(now, letter, window, life, a, newB, newC)
          end
        end
      end
      changed = changed or left ~= section
      sections[#sections + 1] = left
    end
  end
  sections[#sections + 1] = others
  if found == false then
    outcome = 2
  elseif found and operation == 3 then
    redis.call('DEL', key)
  elseif changed and #sections == 0 then
    redis.call('DEL', key)
  elseif changed then
    redis.call('SET', key, table.concat(sections), 'KEEPTTL')
  end
end
return struct.pack('>BI7', outcome, now)
