CREATE TABLE t(i int, j int)$$
CREATE TABLE seen(tbl cstring(10), row vutf8)$$
CREATE PROCEDURE see {
local function main(e)
    return db:table('seen'):insert({tbl = e.name, row = db:table_to_json(e.new)})
end
}$$
CREATE LUA TRIGGER see ON (TABLE t FOR INSERT)
INSERT INTO t VALUES (1, 1)
ALTER TABLE t ADD COLUMN k int
INSERT INTO t VALUES (2, 2, 2)
ALTER TABLE t DROP COLUMN j
INSERT INTO t VALUES (3, 3)
TRUNCATE TABLE t
INSERT INTO t VALUES (4, 4)
