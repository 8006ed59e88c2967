local function main(event)
    local chg = {}
    for k, v in pairs({i = 1, j = 2}) do
        chg['old_' .. k] = v
    end
    declare x 'int'
    x := '12'
    chg.x := x * 2 + #('abc')
    return 0
end
