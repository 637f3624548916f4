-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, state.lua, log.lua and calendar.lua, which precede this script.
--
-- Charges more permits with earlier charges that still count, even if a limit has no room for them. Never changes a foreign value.
-- KEYS        one per policy and caller
-- ARGV[1]     as for operation 1 of refund.lua; the cost is the permits that are charged in addition
-- Reply       one string: outcome B (1 done, 2 a key has a foreign value), now I7
-- Complexity  O(limits of keys), and for a sliding log the number of entries before or after the changed one, whichever are fewer
-- Redis       6.2 or later

local function raised(count, more, bound)
  return count + math.max(0, math.min(more, bound - count))
end

-- Returns the state of a window with more permits, from the stored state. A state of an earlier or a later window stays as it is.
local function raiseWindow(letter, bound, length, more, a, b, c, thenA)
  if thenA == a and now - a < (letter == 115 and 2 or 1) * length then
    return raised(b, more, bound), c
  elseif letter == 115 and thenA + length == a and now - a < length then
    return b, raised(c, more, bound)
  end
  return b, c
end

-- Returns the part of the additional permits that would not have returned to the bucket since the charge.
local function due(letter, permits, units, exponent, bound, more, thenA, thenB, thenC)
  local _, left = advance(now, letter, permits, units, exponent, bound, thenA, thenB, thenC)
  local _, leftOfAll = advance(now, letter, permits, units, exponent, bound, thenA, math.min(thenB + more * units, bound), thenC)
  return leftOfAll - left
end

local outcome, find, logs, calendars = 1, newSections(), nil, nil
at = at + 1
for k = 1, #keys do
  local limits, more, count = {}, nil, nil
  more, count, at = parse('>I7I2', input, at)
  for i = 1, count do
    local letter, permits, units, exponent, capacity, maxDebt, thenA, thenB, thenC
    letter, permits, units, exponent, capacity, maxDebt, at = parse('>BI6I6BI6I7', input, at)
    thenA, thenB, thenC, at = parse('>I7I7I6', input, at)
    limits[i] = {letter, units * 10 ^ exponent / 1000, permits, units, exponent, maxDebt, thenA, thenB, thenC}
  end
  local found, others, ends = find(keys[k], limits, now)
  local sections, changed, longest = {}, false, others and ends - now or 0
  for i = 1, count do
    local limit, stored = limits[i], found and found[i]
    local letter, window, permits, units, exponent, maxDebt = limit[1], limit[2], limit[3], limit[4], limit[5], limit[6]
    local thenA, thenB, thenC = limit[7], limit[8], limit[9]
    local unit = 10 ^ exponent
    local section, life = stored and stored[4], 0
    if found == false then
      break
    elseif letter == 103 then
      if stored then
        logs = logs or newLogs(now)
        local log = logs.read(section, window * 1000)
        if not log then
          found = false
          break
        end
        local live = log.before + log.added
        local increase = raised(live, more, math.min(2 * permits, 10000)) - live
        if increase > 0 and now - thenA < window * 1000 then
          section = logs.refundAt(log, thenA, -increase)
        end
        life = logs.ends(section, window * 1000) - now
      end
    elseif letter == 99 then
      if stored then
        calendars = calendars or newCalendars(now)
        local first, spent, latest, ends, debt = calendars.read(section)
        if not first then
          found = false
          break
        end
        life = ends - now
        -- A charge before the first one that counts was in an earlier period.
        local newSpent = thenA >= first and now < ends and raised(spent, more, calendars.most(permits)) or spent
        if newSpent ~= spent then
          section = calendars.encode(window, first, newSpent, latest, ends, debt or newSpent > permits)
        end
      end
    elseif letter == 115 or letter == 102 then
      if stored then
        local a, b, c, debt = stored[1], stored[2], stored[3], stored[5]
        local newB, newC = raiseWindow(letter, most(letter, permits, units, maxDebt), units * unit, more, a, b, c, thenA)
        local text
        text, life = encode(now, letter, permits, units, unit, a, newB, newC)
        if newB ~= b or newC ~= c then
          section = text
          if debt or newB > permits or newC > permits then
            section = encodeDebt(now, letter, window, life, a, newB, newC)
          end
        end
      end
    else
      local bound = most(letter, permits, units, maxDebt)
      local a, b, c = now, 0, exponent
      if stored then
        a, b, c = stored[1], stored[2], stored[3]
      end
      local charged = 0
      if c == thenC and b <= bound then
        charged = due(letter, permits, units, exponent, bound, more, thenA, thenB, thenC)
      end
      if charged > 0 then
        a, b, c = advance(now, letter, permits, units, exponent, bound, a, b, c)
        b = math.min(b + charged, bound)
        section, life = encode(now, letter, permits, units, unit, a, b, c)
        if b > maxDebt then
          section = encodeDebt(now, letter, window, life, a, b, c)
        end
      elseif stored then
        local _
        _, life = encode(now, letter, permits, units, unit, a, b, c)
      end
    end
    changed = changed or section ~= (stored and stored[4])
    longest = math.max(longest, life)
    sections[#sections + 1] = section
  end
  if found == false then
    outcome = 2
  elseif changed then
    write(keys[k], table.concat(sections) .. (others or ''), longest, false)
  end
end
return pack('>BI7', outcome, now)
