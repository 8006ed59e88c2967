local sum = 0
local function step(x decimal) sum = sum + x end
local function final() return sum end