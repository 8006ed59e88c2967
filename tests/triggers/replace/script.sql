CREATE TABLE t(k int PRIMARY KEY, n int)$$
CREATE TABLE seen(type cstring(4), new vutf8, old vutf8)$$
CREATE PROCEDURE see {
local function text(t) if t == nil then return nil end return db:table_to_json(t) end
local function main(e)
    return db:table('seen'):insert({type = e.type, new = text(e.new), old = text(e.old)})
end
}$$
CREATE LUA TRIGGER see ON (TABLE t FOR INSERT AND UPDATE AND DELETE)
INSERT INTO t VALUES (1, 1) ON CONFLICT (k) DO UPDATE SET n = excluded.n
INSERT INTO t VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET n = n + excluded.n
INSERT INTO t VALUES (1, 9) ON CONFLICT DO NOTHING
REPLACE INTO t VALUES (1, 4), (2, 5)
REPLACE INTO t VALUES (3, 6), (3, 7)
