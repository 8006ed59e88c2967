declare a, b 'int'
local function twice(x int, y
 real, ...) declare z type(x) z := y return x * 2 end
local function main(t cstring) return twice(t) end