-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua and state.lua, which precede this file.
--
-- The calendar limit: permits per period of the calendar. The caller knows the calendar and sends the bounds of two periods.
-- State       a section of a key, big-endian: letter c B, nominal window in ms I5, end of the period of the latest charge I7, length 20 I2,
--             first charge that counts I7, latest charge I7, spent permits I6. If a settlement has charged more permits than the limit has,
--             the last three are the numbers of a section d (state.lua).
-- Complexity  O(1)

local function newCalendars()
  local MAX, MAX_SPENT = 9007199254740992, 281474976710655

  local calendars = {}

  -- Returns the first charge, the spent permits, the latest charge and the end of a section, and whether a settlement has charged more
  -- permits than the limit has; false for a foreign value.
  function calendars.read(raw)
    local debt = byte(raw) == 100
    if #raw ~= (debt and 36 or 35) then
      return false
    end
    local ends, length = parse('>I7I2', raw, 7)
    local first, latest, spent = parse('>I7I7I6', raw, debt and 17 or 16)
    if length ~= #raw - 15 or ends > MAX or first > MAX or latest > MAX then
      return false
    end
    return first, spent, latest, ends, debt
  end

  -- Returns how many permits count at most after a settlement.
  function calendars.most(permits)
    return math.min(2 * permits, MAX_SPENT)
  end

  -- Returns the state as of now, in a period. A state from the future counts as of now, more permits than the limit has as all of its
  -- permits, unless a settlement has charged them. A charge before the period does not count.
  function calendars.advance(permits, start, ends, first, spent, latest, storedEnd, debt)
    if not first or now >= storedEnd or latest < start or spent == 0 or permits == 0 then
      return now, 0, now, ends, false
    end
    spent = math.min(spent, debt and calendars.most(permits) or permits)
    return math.min(first, now), spent, math.min(latest, now), math.min(storedEnd, ends), spent > permits
  end

  -- Returns the section of a limit, which can be a debt, and its end; nil for an untouched limit.
  function calendars.encode(window, first, spent, latest, ends, debt)
    if spent == 0 then
      return nil
    elseif debt then
      return pack('>BI5I7I2BI7I7I6', 100, window, ends, 21, 99, first, latest, spent), ends
    end
    return pack('>BI5I7I2I7I7I6', 99, window, ends, 20, first, latest, spent), ends
  end

  return calendars
end
