-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds for TIME only, and otherwise in milliseconds; see value.lua, which precedes this script.
--
-- Records that an instance is live. With more keys than one, it also stores the report of the instance, and adds its counts to steps of the
-- history.
--
-- KEYS     one or more. 1: the list of instances, with lines '<instance> <time of its last call>'. 2: the report of the instance. Others:
--          one step of the history each, with lines '<decided> <rejected> <name>'
-- ARGV[1]  a line '<instance> <lifetime of the line and the report> <lifetime of a step> <instances> <bytes of a list> <bytes of a step>
--          <bytes of the report> <bytes of the counts of each step>', followed by the report and the counts
-- Reply    text: TIME, the number of keys with a value of another type, and the number of lines of the list, separated by spaces. A key
--          with a value of another type is not changed; if it is the list, the number of its lines is 0.
-- Complexity  O(instances + names in the steps); the client bounds both

local argument = ARGV[1]
local ends = argument:find('\n', 1, true)
local fields = {}
for field in argument:sub(1, ends - 1):gmatch('%S+') do
  fields[#fields + 1] = field
end
local instance, lifetime, step_lifetime = fields[1], tonumber(fields[2]), fields[3]
local max_instances, max_list, max_step = tonumber(fields[4]), tonumber(fields[5]), tonumber(fields[6])
local at = ends + 1

-- Returns the next bytes of the argument.
local function take(length)
  local part = argument:sub(at, at + length - 1)
  at = at + length
  return part
end

local foreign, live = 0, 0
local failure

-- Returns the value of a key; an empty text if it has none, or is too long. False if it has another type, or is not readable.
local function read(key, longest)
  local value = valueOf(key, longest)
  if type(value) == 'table' then
    failure = failure or not value.err:find('WRONGTYPE', 1, true) and value
    foreign = foreign + 1
    return false
  end
  return value and #value <= longest and value or ''
end

-- The list: this instance first, then the others whose last call is not older than the lifetime.
local list = read(KEYS[1], max_list)
if list then
  local lines = {instance .. ' ' .. number(now)}
  for line in list:gmatch('[^\n]+') do
    local other, reported = line:match('^([a-z0-9]+) (%d+)$')
    local age = other and #reported <= 15 and now - tonumber(reported) or lifetime
    if other ~= instance and age < lifetime and age > -lifetime and #other <= 32 and #lines < max_instances then
      lines[#lines + 1] = other .. ' ' .. reported
    end
  end
  live = #lines
  redis.call('SET', KEYS[1], table.concat(lines, '\n') .. '\n', 'PX', fields[2])
end

local report = take(tonumber(fields[7]))
if KEYS[2] and read(KEYS[2], 0) then
  redis.call('SET', KEYS[2], report, 'PX', fields[2])
end

for i = 3, #KEYS do
  local added = take(tonumber(fields[i + 5]))
  local old = read(KEYS[i], max_step)
  if old then
    local names, counts, size = {}, {}, 0
    for _, text in ipairs({old, added}) do
      for line in text:gmatch('[^\n]+') do
        local decided, rejected, name = line:match('^(%d+) (%d+) (.+)$')
        local known = name and counts[name]
        if name and #decided <= 15 and #rejected <= 15 and (known or size + #name + 32 <= max_step) then
          if not known then
            known = {0, 0}
            counts[name] = known
            names[#names + 1] = name
            size = size + #name + 32
          end
          known[1] = math.min(known[1] + tonumber(decided), 999999999999999)
          known[2] = math.min(known[2] + tonumber(rejected), 999999999999999)
        end
      end
    end
    local lines = {}
    for j = 1, #names do
      local known = counts[names[j]]
      lines[j] = number(known[1]) .. ' ' .. number(known[2]) .. ' ' .. names[j] .. '\n'
    end
    redis.call('SET', KEYS[i], table.concat(lines), 'PX', step_lifetime)
  end
end

return failure or number(now) .. ' ' .. number(foreign) .. ' ' .. number(live)
