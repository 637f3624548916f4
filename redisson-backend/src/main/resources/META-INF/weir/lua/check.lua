-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds, except for the time to live of the key in milliseconds.
--
-- Checks what the scripts of this folder need of the server. It runs several times, since time passes between scripts only.
--
-- KEYS     a key that nothing else uses; its state ends soon
-- ARGV[1]  the run: 1 writes the key, 2 expects that it has expired, 3 also removes it
-- ARGV[2]  2^53
-- Reply    text: the name of the server, its version, TIME in microseconds and the codes of what is missing, separated by '|'; codes by ','
-- Complexity  O(1)
-- Server   some versions name themselves in scripts, so the user needs no right for INFO

local missing = {}
local function need(code, present)
  if not present then
    missing[#missing + 1] = code
  end
end

-- Signs of errors that are no missing ability: states that can end, and a missing right in Redis to 7.0 and in later versions and Valkey.
local others = {'OOM', 'MISCONF', 'READONLY', 'LOADING', 'MASTERDOWN', 'CLUSTERDOWN', 'NOREPLICAS', 'NOPERM', 'user executing the script',
  'ACL failure'}

-- Runs a command; false after an error.
local failure
local function call(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    for i = 1, #others do
      if reply.err:find(others[i], 1, true) then
        failure = failure or others[i]
      end
    end
    return false
  end
  return reply
end

-- Calls a function that an undefined name ends.
local function try(test)
  local ok, result = pcall(test)
  return ok and result
end

local key, large = KEYS[1], tonumber(ARGV[2])

local packs = try(function()
  local a, b, c, at = struct.unpack('>BI5I2', struct.pack('>BI5I2', 115, 3600000, 7))
  return a == 115 and b == 3600000 and c == 7 and at == 9
end)
need('struct', packs)
need('numbers', large - 1 < large and large - 1 + 1 == large and (not packs or try(function()
  return struct.unpack('>I7', struct.pack('>I7', large - 1)) == large - 1
end)))

-- A write after TIME must be possible.
local time = call('TIME')
local seconds = type(time) == 'table' and tonumber(time[1])
local micros = type(time) == 'table' and tonumber(time[2])
need('time', seconds and micros)

if ARGV[1] == '1' then
  local set = key and call('SET', key, 'first', 'PX', 20)
  need('px', set)
  need('keys', not set or call('GET', key) == 'first')
  need('keepttl', not set or call('SET', key, 'second', 'KEEPTTL') and call('GET', key) == 'second')
else
  need('keepttl', not call('GET', key))
  if ARGV[1] == '3' then
    call('DEL', key)
  end
end

if failure then
  return redis.error_reply('UNAVAILABLE in the self-test: ' .. failure)
end
local server = try(function() return rawget(_G, 'server') end)
local name = server and server.SERVER_NAME or 'redis'
local version = server and (server.VALKEY_VERSION or server.SERVER_VERSION) or try(function() return rawget(redis, 'REDIS_VERSION') end) or ''
return name .. '|' .. version .. '|' .. string.format('%.0f', (seconds or 0) * 1000000 + (micros or 0)) .. '|' .. table.concat(missing, ',')
