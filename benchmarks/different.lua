-- wrk script. Each request is different from all others of the run: documents, variables, ids, paths, headers and bad
-- input. START is the number of the first request. Prints one line of JSON at the end.
local PER_THREAD = 100000000 -- numbers of a thread
local threads = 0
local number = 0

function setup(thread)
  thread:set("first", tonumber(os.getenv("START")) + threads * PER_THREAD)
  threads = threads + 1
end

function init(args)
  math.randomseed(first)
  number = first
end

local FIELDS = {"title", "body", "status", "commentCount", "createdAt", "updatedAt", "tags", "version", "publishAt"}
local AUTHOR = {"name", "bio", "avatarUrl"}

local function some(names)
  local chosen = {names[math.random(#names)]}
  for _, name in ipairs(names) do
    if math.random() < 0.4 then chosen[#chosen + 1] = name end
  end
  return table.concat(chosen, " ")
end

local function hex(length)
  local digits = {}
  for n = 1, length do digits[n] = string.format("%x", math.random(0, 15)) end
  return table.concat(digits)
end

local function graphql(query, variables)
  return "POST", "/graphql", '{"query":"' .. query .. '","variables":' .. (variables or "{}") .. "}"
end

-- Each kind returns a method, a path and a body.
local KINDS = {
  { 8, function() -- a new document
    return graphql(string.format("{ a%d: posts(limit: %d) { id %s author { %s } } }", number, math.random(1, 10),
      some(FIELDS), some(AUTHOR)))
  end },
  { 30, function() -- a known document with new variables
    return graphql("query($id: ID!) { post(id: $id) { id title author { name } } }", '{"id":"' .. number .. '"}')
  end },
  { 5, function() -- an unknown field, argument or type
    return graphql(string.format("{ posts(limit: 1) { id field%d } }", number))
  end },
  { 3, function() return graphql(string.format("{ posts(limit: 1) { id ", number)) end }, -- a syntax error
  { 3, function() return "POST", "/graphql", '{"query": ' .. number end }, -- not JSON
  { 2, function() -- a variable of a wrong type, nested
    return graphql("query($n: Int) { posts(limit: $n) { id } }", '{"n":{"a' .. number .. '":[1,2,3]}}')
  end },
  { 24, function() return "GET", "/posts/" .. number end },
  { 8, function() return "GET", "/posts?limit=" .. math.random(1, 5) .. "&tag=t" .. number end },
  { 3, function() return "GET", "/posts?after=" .. hex(40) end }, -- a forged cursor
  { 3, function() return "GET", "/posts?unknown" .. number .. "=1" end },
  { 4, function() return "GET", "/nowhere/" .. number .. "/" .. hex(8) end },
  { 3, function() return "DELETE", "/posts/" .. number end },
  { 3, function() return "POST", "/posts", '{"title":"t' .. number .. '"}' end },
  { 1, function() return "GET", "/admin/login/?next=/admin/" .. number end },
  { 1, function() return "GET", "/oauth/authorize/?client_id=" .. hex(16) end },
}
local total = 0
for _, kind in ipairs(KINDS) do total = total + kind[1] end

local function add_headers(headers)
  headers["traceparent"] = "00-" .. hex(32) .. "-" .. hex(16) .. "-01"
  headers["User-Agent"] = "client/" .. number
  local chance = math.random()
  if chance < 0.1 then headers["Origin"] = "https://" .. hex(12) .. ".example.com"
  elseif chance < 0.2 then headers["Authorization"] = "Bearer " .. hex(40) .. "." .. hex(80) .. "." .. hex(40)
  elseif chance < 0.25 then headers["X-API-Key"] = "ck_" .. hex(8) .. "_" .. hex(32)
  elseif chance < 0.3 then headers["If-None-Match"] = '"' .. number .. "-" .. hex(16) .. '"'
  elseif chance < 0.35 then headers["X-Request-ID"] = hex(32)
  elseif chance < 0.4 then headers["Accept"] = "application/x-" .. hex(8) .. ", application/json"
  elseif chance < 0.43 then headers["Idempotency-Key"] = hex(32)
  elseif chance < 0.46 then headers["X-" .. hex(12)] = hex(12)
  elseif chance < 0.48 then headers["Cookie"] = "sessionid=" .. hex(32)
  elseif chance < 0.5 then headers["Host"] = hex(8) .. ".example.org" end
end

function request()
  number = number + 1
  local headers = { ["Host"] = "localhost" }
  add_headers(headers)
  local rest = math.random(total)
  for _, kind in ipairs(KINDS) do
    rest = rest - kind[1]
    if rest <= 0 then
      local method, path, body = kind[2]()
      if body then headers["Content-Type"] = "application/json" end
      return wrk.format(method, path, headers, body)
    end
  end
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\nRESULT {"requests":%d,"refused":%d,"failed":%d}\n', summary.requests, e.status,
    e.connect + e.read + e.write + e.timeout))
end
