-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, which precedes this file. state.lua describes the states, and acquire.lua the arguments.
--
-- Decides on a plain batch, key by key. A single call, a hot key and many keys produce such batches. acquire.lua does the same for all
-- batches in twice the time: this file needs no function, and no table per key or limit. It ends at the first group that it does not
-- handle, of which it has written nothing, and acquire.lua continues there. Such a group has a key with other sections than those of its
-- limits in their order, a state from the future, or a foreign value, or room for some of its requests by a later limit than the first.
-- The keys of a group are written once all of them have room.
-- Complexity  O(limits of keys)
-- Errors      commands that can fail after a write are those of which the first one has succeeded: no write makes a later write fail
-- Redis       6.2 or later

local isPlain = form < 2
-- The first key of the current group, the replies to the groups before, the run of the group, and the position of its limits.
local first, replies, runAt, runFirst, limitsFrom = 1, nil, at, 1, 1
if isPlain then
  local read, floor, ceil, size, keyCount = redis.pcall, math.floor, math.ceil, #input, #keys
  local letter, permits, units, exponent, unit, length, window, capacity, maxDebt, isShort
  local limitCount, limitsAt, left, count, cost, kind, delaysAt, handled = 0, 1, 0, 1, 1, 0, 0, true
  local k, part, groupKeys, groupsBefore, limitAt, allowed, states = 1, 1, 1, 0, 1, 1, nil
  local texts, lives = nil, nil
  repeat
    local isNewRun = left == 0
    if isNewRun then
      runAt, runFirst = at, k
      local limitForm = byte(input, at)
      if limitForm == 0 then
        at = at + 1
      else
        limitsFrom, limitsAt, groupKeys = at, at, 1
        if limitForm > 2 then
          limitCount, at = 1, at + (limitForm < 128 and 12 or 27)
        elseif limitForm > 1 then
          groupKeys, at, limitsAt = parse('>I2I2', input, at + 1)
          at = limitsAt + at
          texts, lives = {}, {}
        else
          limitCount, at, limitsAt = parse('>I2I2', input, at + 1)
          at = limitsAt + at
        end
      end
      kind, left, count, cost = 0, keyCount, 1, 1
      if at <= size then
        kind, left, at = parse('>BI2', input, at)
        if kind > 1 then
          count, left = left, 1
        end
      end
    end
    if part == 1 then
      limitAt, allowed, states = limitsAt, count, nil
    end
    if groupKeys > 1 then
      limitCount = 1
      if byte(input, limitAt) == 1 then
        limitCount, limitAt = parse('>I2', input, limitAt + 1)
        limitAt = limitAt + 2
      end
    end
    if kind > 2 then
      cost, delaysAt = parse('>I6', input, at)
      at = delaysAt + 6 * limitCount
    end

    local key = keys[k]
    local raw = read('GET', key)
    -- An error has the length 0.
    local stored, from = raw and #raw, 1
    local sections, longest, keepsLongest = nil, 0, false
    for i = 1, limitCount do
      if isNewRun or limitCount > 1 or groupKeys > 1 then
        letter = byte(input, limitAt)
        isShort = letter < 128
        if isShort then
          permits, units, exponent, limitAt = parse('>I4I6B', input, limitAt + 1)
          capacity, maxDebt = permits, permits * units
        else
          letter = letter - 128
          permits, units, exponent, capacity, maxDebt, limitAt = parse('>I6I6BI6I7', input, limitAt + 1)
        end
        unit = exponent == 0 and 1 or 10 ^ exponent
        length = units * unit
        window = length / 1000
      end

      local storedLetter, storedWindow, a, b, c = letter, window, now, 0, 0
      local elapsed, keeps, free, needed = 0, false, permits, cost
      if letter == 115 then
        if stored then
          if stored - from < 24 then
            handled = false
            break
          end
          storedLetter, storedWindow, a, b, c, from = parse('>BI5I7I6I6', raw, from)
          elapsed = now - a
          if elapsed < 0 then
            handled = false
            break
          end
          keeps = b > 0
          if b > permits then
            b = permits
          end
          if c > permits then
            c = permits
          end
          if elapsed >= length then
            keeps, c, b = false, elapsed < 2 * length and b or 0, 0
            elapsed = elapsed - length
            a = a + length
          end
          free = permits - b
          if c > 0 then
            free = free - ceil(c * (units - floor(elapsed / unit)) / units)
          elseif b == 0 then
            keeps, a, elapsed = false, now, 0
          end
        end
      elseif letter == 102 then
        if stored then
          if stored - from < 18 then
            handled = false
            break
          end
          storedLetter, storedWindow, a, b, from = parse('>BI5I7I6', raw, from)
          elapsed = now - a
          if elapsed < 0 then
            handled = false
            break
          end
          if b > permits then
            b = permits
          end
          if b == 0 or elapsed >= length then
            a, b, elapsed = now, 0, 0
          else
            keeps = true
          end
          free = permits - b
        end
      elseif letter == 103 then
        handled = false
        break
      else
        if stored then
          if stored - from < 27 then
            handled = false
            break
          end
          storedLetter, storedWindow, a, b, c, from = parse('>BI5I7I7B', raw, from)
          from = from + 7
          if c ~= exponent or b > 9007199254740992 or a > now then
            handled = false
            break
          end
          if b > maxDebt then
            b = maxDebt
          end
          elapsed = floor((now - a) / unit)
          a, b = a + elapsed * unit, b - elapsed * permits
          if b <= 0 then
            a, b = now, 0
          end
          elapsed = now - a
        end
        c, free, needed = exponent, capacity * units - b, cost * units
        if kind > 2 then
          local delay = parse('>I6', input, delaysAt + 6 * i - 6)
          if delay > 0 then
            free = cost <= capacity and free + permits * floor((delay + elapsed) / unit) or 0
          end
        end
      end
      if storedLetter ~= letter or storedWindow ~= window then
        handled = false
        break
      end

      if free < needed * allowed then
        allowed = free < needed and 0 or floor(free / needed)
        if allowed > 0 and (i > 1 or part > 1) then
          handled = false
          break
        end
      end

      local state
      if not isShort then
        state = pack('>I7I7I6', a, b, c)
      elseif letter > 115 or letter == 108 then
        state = b == 0 and '\0' or pack('>BI3I7', 1, elapsed, b)
      elseif b > 65535 or c > 65535 or elapsed > 1099511627775 then
        state = pack('>BI6I4I4', 3, elapsed, b, c)
      elseif c > 0 then
        state = pack('>BI5I2I2', 2, elapsed, b, c)
      else
        state = b == 0 and '\0' or pack('>BI5I2', 1, elapsed, b)
      end
      states = states and states .. state or state

      if allowed > 0 and kind ~= 4 then
        local section, life
        b = b + needed * allowed
        if letter == 115 then
          section, life = pack('>BI5I7I6I6', 115, window, a, b, c), 2 * length - elapsed
        elseif letter == 102 then
          section, life = pack('>BI5I7I6', 102, window, a, b), length - elapsed
        else
          life = permits > 0 and ceil(b / permits) * unit - elapsed or 0
          section = pack('>BI5I7I7BI7', letter, window, a, b, exponent, now + life)
        end
        sections = sections and sections .. section or section
        if life > longest then
          longest, keepsLongest = life, keeps
        end
      end
    end
    if not handled or stored and from <= stored then
      break
    end

    local life = sections and not keepsLongest and string.format('%d', longest < 1000 and 1 or ceil(longest / 1000))
    if part < groupKeys then
      texts[part], lives[part] = sections, life
      part = part + 1
    else
      if allowed > 0 and kind ~= 4 then
        for i = 1, groupKeys - 1 do
          if lives[i] then
            call('SET', keys[first + i - 1], texts[i], 'PX', lives[i])
          else
            call('SET', keys[first + i - 1], texts[i], 'KEEPTTL')
          end
        end
        if life then
          call('SET', key, sections, 'PX', life)
        else
          call('SET', key, sections, 'KEEPTTL')
        end
      end
      if keyCount == groupKeys then
        return pack(count == 1 and '>I7B' or '>I7I2', now, allowed) .. states
      end
      replies = replies or {pack('>I7', now)}
      groupsBefore = groupsBefore + 1
      replies[groupsBefore + 1] = pack(count == 1 and 'B' or '>I2', allowed) .. states
      left = left - 1
      first, part = k + 1, 1
    end
    k = k + 1
  until k > keyCount
  if first > keyCount then
    return table.concat(replies)
  end
end
