-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua and state.lua, which precede this file.
--
-- The calendar limit: permits per period of the calendar. The caller knows the calendar and sends the bounds of two periods.
-- State       a section of a key, big-endian: letter c B, nominal window in ms I5, end of the period of the latest charge I7, length 20 I2,
--             first charge that counts I7, latest charge I7, spent permits I6
-- Complexity  O(1)

local function newCalendars(now)
  local SIZE, MAX = 35, 9007199254740992

  local calendars = {}

  -- Returns the bounds of the period that contains now; nil if it is none of the two.
  function calendars.period(start, ends, nextEnd)
    if now < start or now >= nextEnd then
      return nil
    elseif now < ends then
      return start, ends
    end
    return ends, nextEnd
  end

  -- Returns the first charge, the spent permits, the latest charge and the end of a section; false for a foreign value.
  function calendars.read(raw)
    if #raw ~= SIZE then
      return false
    end
    local ends, length, first, latest, spent = parse('>I7I2I7I7I6', raw, 7)
    if length ~= 20 or ends > MAX or first > MAX or latest > MAX then
      return false
    end
    return first, spent, latest, ends
  end

  -- Returns the state as of now, in a period. A state from the future counts as of now, more permits than the limit has as all of its
  -- permits. A charge before the period does not count.
  function calendars.advance(permits, start, ends, first, spent, latest, storedEnd)
    if not first or now >= storedEnd or latest < start or spent == 0 or permits == 0 then
      return now, 0, now, ends
    end
    return math.min(first, now), math.min(spent, permits), math.min(latest, now), math.min(storedEnd, ends)
  end

  -- Returns the section of a limit, and the time until its end.
  function calendars.encode(window, first, spent, latest, ends)
    return pack('>BI5I7I2I7I7I6', 99, window, ends, 20, first, latest, spent), ends - now
  end

  return calendars
end
