-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, state.lua and slots.lua, which precede this script.
--
-- Releases or renews slots of concurrency limits. A slot that a key does not have stays as it is: to release one twice has no effect.
-- KEYS        one per policy and caller, all different
-- ARGV[1]     clock (clock.lua); operation B (1 releases, 2 renews); for each key the number of slots I2 and the slots: instance I6,
--             number I6, timeout I7 each
-- Reply       one string: outcome B (1), now I7, then for each slot B: 0 the key did not have it, 1 it had it, 2 its value is foreign
-- Complexity  O(slots of keys)
-- Redis       6.2 or later

local find, slots = newSections(), newSlots()
local LIMITS = {{110, 1}}
local reply = {}
local operation
operation, at = parse('B', input, at)
for k = 1, #keys do
  local count
  count, at = parse('>I2', input, at)
  -- The section of a bucket can have ended under an earlier limit, and count under a later one.
  local found, others, othersEnd = find(get(keys[k]), LIMITS, true)
  local held, _, first, last, hasEnded = '', 0, nil, nil, false
  if found and found[1] then
    held, _, first, last, hasEnded = slots.read(found[1][4])
  end
  local isForeign = found == false or not held
  local changed = not isForeign and hasEnded
  for i = 1, count do
    local from = not isForeign and slots.find(held, string.sub(input, at, at + 11)) or nil
    local ends = now + parse('>I7', input, at + 12)
    at = at + 19
    reply[#reply + 1] = pack('B', isForeign and 2 or from and 1 or 0)
    if from then
      changed = true
      if operation == 1 then
        held = slots.remove(held, from)
      else
        -- After a step back of the clock, the slot ends earlier than before.
        held, first, last = slots.renew(held, from, ends), math.min(first, ends), math.max(last, ends)
      end
    end
  end
  if changed then
    -- A block stays the last section. Sections that have ended need no key of their own.
    local section = slots.encode(held, first, last)
    write(keys[k], (section or '') .. ((section or othersEnd > now) and others or ''), math.max(last, othersEnd))
  end
end
return pack('>BI7', 1, now) .. table.concat(reply)
