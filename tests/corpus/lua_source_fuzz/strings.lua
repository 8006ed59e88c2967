-- comments [[ and ]] strings
--[==[ long
]] ]==]
local t = [[
x := 1]]
local function main(...)
  local s, n = ('key = value'):gsub('(%w+)%s*=%s*(%w+)', "%2\n%1")
  for w in t:gmatch('%a+') do s = s .. w end
  local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(0x1p4 + i) end end)
  return s, co(), pcall(error, {message = 'm'}), ({...})[1] // 2
end
