-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua and state.lua, which precede this file.
--
-- The concurrency limit: calls that run at once. Each call has a slot until it releases it, or until the end of the slot.
-- State       a section of a key, big-endian: letter n B, 1 I5, an instant after which no slot ends I7, length I2, an instant before which
--             none ends I7, and the slots: instance I6, number I6, end I7 each. Instance and number together are unique.
-- Complexity  O(1) while no slot has ended, else O(slots); a copy of the section for each write

local function newSlots()
  local MAX, SIZE, ID, LONGEST = 9007199254740992, 19, 12, 31622400000000
  local slots = {}

  -- Returns the text of the slots that have not ended, their number, the instants before and after which none ends, and whether some have
  -- ended; false for a foreign value.
  function slots.read(raw)
    local last, length = parse('>I7I2', raw, 7)
    if length ~= #raw - 15 or length < 7 or (length - 7) % SIZE ~= 0 or last > MAX then
      return false
    end
    local first, held = parse('>I7', raw, 16), string.sub(raw, 23)
    last = math.min(last, now + LONGEST)
    if now < first then
      return held, #held / SIZE, first, last, false
    end
    local left = {}
    first, last = MAX, 0
    for from = 1, #held, SIZE do
      local ends = parse('>I7', held, from + ID)
      if ends > now then
        left[#left + 1] = string.sub(held, from, from + SIZE - 1)
        first, last = math.min(first, ends), math.max(last, math.min(ends, now + LONGEST))
      end
    end
    return table.concat(left), #left, first, last, true
  end

  -- Returns slots with some more, which have consecutive numbers and the same end, and the instants before and after which none ends.
  function slots.add(held, count, instance, number, ends, first, last)
    local more = {held}
    for i = 0, count - 1 do
      more[#more + 1] = pack('>I6I6I7', instance, number + i, ends)
    end
    return table.concat(more), math.min(first, ends), math.max(last, ends)
  end

  -- Returns the position of a slot, nil if there is none.
  function slots.find(held, id)
    local from = string.find(held, id, 1, true)
    while from and from % SIZE ~= 1 do
      from = string.find(held, id, from + 1, true)
    end
    return from
  end

  -- Returns slots without the one at a position.
  function slots.remove(held, from)
    return string.sub(held, 1, from - 1) .. string.sub(held, from + SIZE)
  end

  -- Returns slots with another end of the one at a position.
  function slots.renew(held, from, ends)
    return string.sub(held, 1, from + ID - 1) .. pack('>I7', ends) .. string.sub(held, from + SIZE)
  end

  -- Returns the section of slots; nil if there are none.
  function slots.encode(held, first, last)
    return held ~= '' and pack('>BI5I7I2I7', 110, 1, last, #held + 7, first) .. held or nil
  end

  return slots
end
