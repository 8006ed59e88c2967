CREATE TABLE t(i int, d double, c cstring(10), b byte(4), t datetime, y intervalym)$$
CREATE PROCEDURE watch VERSION 'sample' {
local function define_emit_columns()
    local num = db:exec("select count(*) as num from comdb2_columns where tablename='t'"):fetch().num
    --temporary kludge: convert to Lua number
    num = tonumber(tostring(num))
    local total = 2 + num * 2 -- type, tablename, new columns, old columns
    db:num_columns(total)

    local i = 0
    local cols = {}

    i = i + 1
    table.insert(cols, i, {n='tbl', t='cstring'})

    i = i + 1
    table.insert(cols, i, {n='type', t='cstring'})

    local stmt = db:exec("select columnname as name, type as type from comdb2_columns where tablename='t'")
    local r = stmt:fetch()
    while r do
        local n = tostring(r.name)
        local t = tostring(r.type)
        i = i + 1
        table.insert(cols, i, {n = n, t= t})
        table.insert(cols, i + num, {n = 'old_'..n, t = t})
        r = stmt:fetch()
    end
    for k, v in ipairs(cols) do
        db:column_name(v.n, k)
        db:column_type(v.t, k)
    end
end

local function main()
    define_emit_columns()
    -- get handle to consumer associated with stored procedure
    local consumer = db:consumer()
    while true do
        local change = consumer:get() -- blocking call
        local row
        if change.new ~= nil then
            row = change.new
        end
        if row == nil then
            row = {}
        end
        if change.old ~= nil then
            for k, v in pairs(change.old) do
                row['old_'..k] = v
            end
        end
        row.tbl = change.name
        row.type = change.type
        consumer:emit(row) -- blocking call
        consumer:consume()
    end
end
}$$
CREATE LUA CONSUMER watch ON (TABLE t FOR INSERT AND UPDATE AND DELETE)

INSERT INTO t VALUES(1, 22.0/7, 'hello', x'deadbeef', now(), 5)
UPDATE t set i = i + d, d = d + i, b = x'600dc0de'
DELETE from t
