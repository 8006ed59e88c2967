CREATE TABLE t(i int, j int, k int, l int)$$
CREATE TABLE seen(trigger cstring(10), type cstring(4), new vutf8, old vutf8)$$
CREATE PROCEDURE part {
local function text(t) if t == nil then return nil end return db:table_to_json(t) end
local function main(e)
    return db:table('seen'):insert({trigger = db:spname(), type = e.type, new = text(e.new), old = text(e.old)})
end
}$$
CREATE PROCEDURE whole {
local function text(t) if t == nil then return nil end return db:table_to_json(t) end
local function main(e)
    return db:table('seen'):insert({trigger = db:spname(), type = e.type, new = text(e.new), old = text(e.old)})
end
}$$
CREATE PROCEDURE changed {
local function text(t) if t == nil then return nil end return db:table_to_json(t) end
local function main(e)
    return db:table('seen'):insert({trigger = db:spname(), type = e.type, new = text(e.new), old = text(e.old)})
end
}$$
CREATE LUA TRIGGER part ON (TABLE t FOR INSERT OF i, j AND UPDATE OF j, k AND DELETE OF k, l)
CREATE LUA TRIGGER whole ON (TABLE t FOR INSERT)
CREATE LUA TRIGGER changed ON (TABLE t FOR UPDATE OF l WHEN (new.i > 0) CHANGED (l))
INSERT INTO t VALUES (1, 2, 3, 4), (-1, 2, 3, NULL)
UPDATE t SET l = 5
UPDATE t SET l = l
DELETE FROM t
